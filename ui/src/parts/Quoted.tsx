/** What the server says of a fault or a remedy. It quotes what is typed in backticks. */
export function Quoted({ text }: { text: string }) {
  const parts = text.split(/`([^`]+)`/);
  return parts.map((part, n) =>
    n % 2 === 1 ? (
      <code className="mono" key={n}>
        {part}
      </code>
    ) : (
      part
    ),
  );
}
