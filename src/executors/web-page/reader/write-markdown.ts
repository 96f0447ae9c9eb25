// A part of a page as Markdown. A picture is what its author says of it: what shows Markdown must not fetch anything for it.
import { gfm } from '@joplin/turndown-plugin-gfm';
import TurndownService from 'turndown';
import type { PageElement } from './page-tree.ts';

const service = new TurndownService({
  headingStyle: 'atx',
  codeBlockStyle: 'fenced',
  bulletListMarker: '-',
  emDelimiter: '_',
});
service.use(gfm);
service.remove('title');
service.addRule('pictures', {
  filter: ['img', 'picture', 'video', 'audio'],
  replacement: (_content, node) =>
    ((node as unknown as PageElement).getAttribute('alt') ?? '').replaceAll(/\s+/g, ' ').trim(),
});

/** By its HTML: what writes it looks for more in a tree than the one that pages are read in has. */
export function writeMarkdown({ innerHTML }: PageElement): string {
  if (innerHTML.trim() === '') return '';
  const text = service.turndown(innerHTML);
  return text.replaceAll(/\n{3,}/g, '\n\n').trim();
}
