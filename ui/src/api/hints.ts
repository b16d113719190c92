/** Hints of the API name routes; on the page they name the part of the page that does the same. */

export const PAGE_NAMES: Record<string, string> = {
  "GET /conversations/{id}/messages": "The chat",
  "GET /conversations/{id}/tools": "The tools button below the message box",
  "GET /conversations/{id}/context": "The chat's export",
  "POST /conversations/import": "A file dropped on the page",
  "GET /conversations": "The list beside this page",
  "GET /turns/{id}": "The inspector of the turn",
  "POST /servers/{id}/start": "Start on the Servers page",
  "POST /servers/{id}/confirm": "Its card on the Servers page",
  "PATCH /servers/{id}": "Its card on the Servers page",
  "GET /servers/found": "Look for configs on the Servers page",
  "GET /gallery": "Add a server on the Servers page",
  "GET /servers/{id}/tools": "The Servers page",
  "GET /servers/{id}/resources": "Resources of that server on the Servers page",
  "GET /servers": "The Servers page",
  "GET /permissions": "The Permissions page",
  "GET /policy": "The Settings page",
  "GET /limits": "The Settings page",
  "PATCH /limits": "The Settings page",
  "GET /providers": "The Models page",
  "GET /personas": "The Settings page",
  "GET /v1/models": "The Models page",
};

const ROUTE = new RegExp(
  Object.keys(PAGE_NAMES)
    .toSorted((a, b) => b.length - a.length)
    .map((route) => route.replace(/[{}]/g, "\\$&"))
    .join("|"),
  "g",
);

export function hintForPage(hint: string): string {
  return hint.replace(ROUTE, (route) => PAGE_NAMES[route] ?? route);
}
