// Runs before the first paint, so that a chosen theme does not flash. src/app/theme.ts keeps the same key.
{
  const { document, localStorage } = globalThis;
  const chosen = localStorage.getItem("windlass.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}
