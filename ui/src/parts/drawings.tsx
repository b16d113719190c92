/** The drawings: 16 px grid, 1.5 px stroke, one meaning each. */

import type { ReactNode } from "react";

export const DRAWINGS = {
  alert: (
    <>
      <path d="M8 2.4l6 10.6H2zM8 6.5v3" />
      <circle cx="8" cy="11.2" r="0.8" fill="currentColor" stroke="none" />
    </>
  ),
  attach: (
    <>
      <path d="M13 7.25l-5.4 5.4a3 3 0 0 1-4.25-4.25l5.7-5.7a2 2 0 0 1 2.85 2.85l-5.6 5.6a1 1 0 0 1-1.4-1.4l5-5" />
    </>
  ),
  bell: (
    <>
      <path d="M3.5 11.25c1-1 1.25-2 1.25-4.25a3.25 3.25 0 0 1 6.5 0c0 2.25.25 3.25 1.25 4.25zM6.75 13.5c.6.5 1.9.5 2.5 0" />
    </>
  ),
  branch: (
    <>
      <circle cx="4.25" cy="3.75" r="1.75" />
      <circle cx="4.25" cy="12.25" r="1.75" />
      <circle cx="11.75" cy="5.25" r="1.75" />
      <path d="M4.25 5.5v5M11.75 7c0 2.5-2.5 3-4.5 3.25" />
    </>
  ),
  check: (
    <>
      <path d="M3.25 8.5l3.25 3.25 6.25-7.25" />
    </>
  ),
  copy: (
    <>
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
      <path d="M10.5 5.5V4A1.5 1.5 0 0 0 9 2.5H4A1.5 1.5 0 0 0 2.5 4v5A1.5 1.5 0 0 0 4 10.5h1.5" />
    </>
  ),
  denied: (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <path d="M3.6 12.4l8.8-8.8" />
    </>
  ),
  doc: (
    <>
      <path d="M4.25 1.75h5l3.5 3.5v7.5c0 .85-.65 1.5-1.5 1.5h-7c-.85 0-1.5-.65-1.5-1.5v-9.5c0-.85.65-1.5 1.5-1.5zM9 2v3.5h3.5" />
    </>
  ),
  down: (
    <>
      <path d="M3.5 6L8 10.5 12.5 6" />
    </>
  ),
  expand: (
    <>
      <path d="M9.5 2.75h3.75V6.5M6.5 13.25H2.75V9.5M13 3L9.25 6.75M3 13l3.75-3.75" />
    </>
  ),
  fail: (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <path d="M6 6l4 4M10 6l-4 4" />
    </>
  ),
  globe: (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <path d="M1.75 8h12.5M8 1.75c2 2 2.75 4 2.75 6.25S10 12.25 8 14.25C6 12.25 5.25 10.25 5.25 8S6 3.75 8 1.75" />
    </>
  ),
  image: (
    <>
      <rect x="2" y="2.75" width="12" height="10.5" rx="1.5" />
      <circle cx="5.5" cy="6" r="1.1" />
      <path d="M2.25 11.5l3.5-3 2.5 2 2.5-2.75 3 3" />
    </>
  ),
  info: (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <path d="M8 7.25v3.75" />
      <circle cx="8" cy="5" r="0.85" fill="currentColor" stroke="none" />
    </>
  ),
  key: (
    <>
      <circle cx="5.25" cy="10.75" r="3" />
      <path d="M7.5 8.5l5.75-5.75M11 5l2 2" />
    </>
  ),
  keyboard: (
    <>
      <rect x="1.75" y="4" width="12.5" height="8" rx="1.5" />
      <path d="M4.5 6.75h.01M7 6.75h.01M9.5 6.75h.01M11.75 6.75h.01M5 9.5h6" />
    </>
  ),
  left: (
    <>
      <path d="M10 3.5L5.5 8l4.5 4.5" />
    </>
  ),
  lock: (
    <>
      <rect x="3" y="7" width="10" height="6.75" rx="1.5" />
      <path d="M5.25 7V5a2.75 2.75 0 0 1 5.5 0v2" />
    </>
  ),
  loop: (
    <>
      <path d="M4.75 4.5h6a3.25 3.25 0 0 1 0 6.5h-6M6.5 2.5l-2 2 2 2" />
    </>
  ),
  menu: (
    <>
      <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />
    </>
  ),
  model: (
    <>
      <rect x="4.25" y="4.25" width="7.5" height="7.5" rx="1.25" />
      <path d="M6.5 1.75v2.5M9.5 1.75v2.5M6.5 11.75v2.5M9.5 11.75v2.5M1.75 6.5h2.5M1.75 9.5h2.5M11.75 6.5h2.5M11.75 9.5h2.5" />
    </>
  ),
  more: (
    <>
      <circle cx="3.5" cy="8" r="1.1" fill="currentColor" stroke="none" />
      <circle cx="8" cy="8" r="1.1" fill="currentColor" stroke="none" />
      <circle cx="12.5" cy="8" r="1.1" fill="currentColor" stroke="none" />
    </>
  ),
  offline: (
    <>
      <path d="M2 2l12 12M1.75 6.25a9 9 0 0 1 3.6-2.2M8 3.5a9 9 0 0 1 6.25 2.75M4 8.75a5.8 5.8 0 0 1 3-1.6M10.4 7.6c.6.3 1.1.7 1.6 1.15" />
      <circle cx="8" cy="12" r="1.1" fill="currentColor" stroke="none" />
    </>
  ),
  out: (
    <>
      <path d="M6.5 3H4.25C3.5 3 3 3.5 3 4.25v7.5c0 .75.5 1.25 1.25 1.25h7.5c.75 0 1.25-.5 1.25-1.25V9.5M9.5 2.75h3.75V6.5M13 3L7.5 8.5" />
    </>
  ),
  panel: (
    <>
      <rect x="2.25" y="2.75" width="11.5" height="10.5" rx="1.5" />
      <path d="M6.25 2.75v10.5" />
    </>
  ),
  parallel: (
    <>
      <path d="M2.5 4h6M5 8h8.5M2.5 12h8" />
    </>
  ),
  person: (
    <>
      <circle cx="8" cy="5" r="2.5" />
      <path d="M3 13.5c.35-2.75 2.35-4.25 5-4.25s4.65 1.5 5 4.25" />
    </>
  ),
  play: (
    <>
      <path d="M4.75 3v10l8.25-5z" />
    </>
  ),
  plus: (
    <>
      <path d="M8 3v10M3 8h10" />
    </>
  ),
  queued: (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <circle cx="5.25" cy="8" r="0.9" fill="currentColor" stroke="none" />
      <circle cx="8" cy="8" r="0.9" fill="currentColor" stroke="none" />
      <circle cx="10.75" cy="8" r="0.9" fill="currentColor" stroke="none" />
    </>
  ),
  retry: (
    <>
      <path d="M13.25 8a5.25 5.25 0 1 1-1.6-3.8M13.25 2v3h-3" />
    </>
  ),
  right: (
    <>
      <path d="M6 3.5L10.5 8 6 12.5" />
    </>
  ),
  run: (
    <>
      <circle cx="8" cy="8" r="6.25" opacity=".25" />
      <path d="M8 1.75A6.25 6.25 0 0 1 14.25 8" />
    </>
  ),
  save: (
    <>
      <path d="M8 2.5v7.75M4.5 7L8 10.5 11.5 7M2.75 13.25h10.5" />
    </>
  ),
  search: (
    <>
      <circle cx="7" cy="7" r="4.5" />
      <path d="M10.4 10.4l3.1 3.1" />
    </>
  ),
  send: (
    <>
      <path d="M8 13V3.25M3.75 7.5L8 3.25l4.25 4.25" />
    </>
  ),
  server: (
    <>
      <rect x="2.25" y="2.75" width="11.5" height="4.5" rx="1.25" />
      <rect x="2.25" y="8.75" width="11.5" height="4.5" rx="1.25" />
      <circle cx="5" cy="5" r="0.8" fill="currentColor" stroke="none" />
      <circle cx="5" cy="11" r="0.8" fill="currentColor" stroke="none" />
    </>
  ),
  shield: (
    <>
      <path d="M8 1.9l5.25 1.9v3.7c0 3.2-2.1 5.5-5.25 6.6-3.15-1.1-5.25-3.4-5.25-6.6V3.8z" />
    </>
  ),
  sliders: (
    <>
      <path d="M2.25 5h6M12 5h1.75M2.25 11H4M7.75 11h6" />
      <circle cx="10.1" cy="5" r="1.75" />
      <circle cx="5.9" cy="11" r="1.75" />
    </>
  ),
  spans: (
    <>
      <path d="M2.25 4h4.5M5.25 8h5.5M9.25 12h4.5" strokeWidth="2.5" />
    </>
  ),
  stop: (
    <>
      <rect x="4.25" y="4.25" width="7.5" height="7.5" rx="1.25" fill="currentColor" stroke="none" />
    </>
  ),
  stopped: (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <rect x="5.75" y="5.75" width="4.5" height="4.5" rx=".75" fill="currentColor" stroke="none" />
    </>
  ),
  term: (
    <>
      <rect x="1.75" y="2.75" width="12.5" height="10.5" rx="1.5" />
      <path d="M4.5 6l2.25 2L4.5 10M8.25 10.25h3" />
    </>
  ),
  thought: (
    <>
      <rect x="2" y="2.25" width="12" height="8.5" rx="4.25" />
      <circle cx="5.4" cy="6.5" r="0.85" fill="currentColor" stroke="none" />
      <circle cx="8" cy="6.5" r="0.85" fill="currentColor" stroke="none" />
      <circle cx="10.6" cy="6.5" r="0.85" fill="currentColor" stroke="none" />
      <circle cx="4.5" cy="13.4" r="1.1" fill="currentColor" stroke="none" />
    </>
  ),
  timeout: (
    <>
      <path d="M4 2.25h8M4 13.75h8M5.25 2.25v2.5L8 8l2.75-3.25v-2.5M5.25 13.75v-2.5L8 8l2.75 3.25v2.5" />
    </>
  ),
  tools: (
    <>
      <path d="M5.75 1.75v3.5M10.25 1.75v3.5M3.75 5.25h8.5V7a4.25 4.25 0 0 1-8.5 0zM8 11.25v3" />
    </>
  ),
  trash: (
    <>
      <path d="M2.75 4.25h10.5M6.25 4.25v-1.5h3.5v1.5M4 4.25l.6 8.1c.05.7.55 1.15 1.25 1.15h4.3c.7 0 1.2-.45 1.25-1.15l.6-8.1M6.6 7v3.75M9.4 7v3.75" />
    </>
  ),
  unknown: (
    <>
      <circle cx="8" cy="8" r="6.25" strokeDasharray="2.4 1.53" />
      <path d="M6.35 6.4a1.7 1.7 0 1 1 2.55 1.45c-.6.35-.9.7-.9 1.3" />
      <circle cx="8" cy="11.1" r="0.85" fill="currentColor" stroke="none" />
    </>
  ),
  up: (
    <>
      <path d="M3.5 10L8 5.5 12.5 10" />
    </>
  ),
  wrench: (
    <>
      <path d="M13.4 4.5a3.5 3.5 0 0 1-4.7 4.2l-4.3 4.3a1.3 1.3 0 0 1-1.9-1.9l4.3-4.3a3.5 3.5 0 0 1 4.2-4.7L8.9 4.2l.5 2.4 2.4.5z" />
    </>
  ),
  write: (
    <>
      <path d="M10.75 2.75l2.5 2.5-7.75 7.75-3.25.75.75-3.25zM9 4.5L11.5 7" />
    </>
  ),
  x: (
    <>
      <path d="M4.25 4.25l7.5 7.5M11.75 4.25l-7.5 7.5" />
    </>
  ),
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof DRAWINGS;
