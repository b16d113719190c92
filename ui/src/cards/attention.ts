/** Whether the person is busy elsewhere: typing, or in a menu. Then nothing may take the focus away. */

const TYPED_LATELY_MS = 2000;

let typedAt = -Infinity;

addEventListener("keydown", () => (typedAt = performance.now()), { capture: true, passive: true });

export function maySteal(): boolean {
  const menuOpen =
    document.querySelector("[role=menu], [data-radix-popper-content-wrapper], .drawer") !== null;
  const onCard =
    document.activeElement?.closest("[data-waits]") !== null && document.activeElement !== document.body;
  return !menuOpen && !onCard && performance.now() - typedAt > TYPED_LATELY_MS;
}
