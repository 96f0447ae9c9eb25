// The reasons that fetching pages of the web has. Part of the table in reasons.ts.
import { row, type ReasonRow } from './reason-row.ts';

// oxfmt-ignore
export const PAGE_REASONS = {
  PAGE_NOT_TEXT: row('PERMANENT', 'what the URL leads to is no text: a PDF document, a picture, an archive: details.found'),
  PAGE_TOO_COMPLEX: row('PERMANENT', 'the page takes more time or memory to be read than one may'),
  ROBOTS_DENIED: row('PERMISSION_DENIED', 'the robots.txt of the site does not allow the page to be fetched'),
  ROBOTS_UNREADABLE: row('UNAVAILABLE', 'the robots.txt of the site cannot be read, so that nobody knows what it allows'),
} satisfies Readonly<Record<string, ReasonRow>>;
