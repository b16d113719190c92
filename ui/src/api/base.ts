/** The path that a proxy serves Windlass below, as the server wrote it into the page: "" or such as "/windlass". */
export const base = (
  document.querySelector<HTMLMetaElement>('meta[name="windlass-base"]')?.content ?? ""
).replace(/\/+$/, "");

/** An address of the server, for a path of its API or of the page. */
export const inBase = (path: string): string => base + path;

/** The path of an address as the server knows it. */
export function belowBase(pathname: string, prefix = base): string {
  const below = pathname.startsWith(`${prefix}/`) || pathname === prefix;
  return below ? pathname.slice(prefix.length) || "/" : pathname;
}
