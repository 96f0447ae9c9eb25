// What a page says of itself in its head. Whoever wrote the page wrote these too: short, on one line, and no more than text.
import { withoutHidden } from '../../../lib/text/hidden-text.ts';
import type { PageDocument } from './page-tree.ts';

export interface PageFacts {
  readonly title?: string;
  readonly site?: string;
  readonly language?: string;
  readonly published?: string;
}

const LONGEST = 300;

export function factsOf(document: PageDocument): PageFacts {
  return {
    ...fact('title', document.querySelector('title')?.textContent ?? metaOf(document, 'og:title')),
    ...fact('site', metaOf(document, 'og:site_name')),
    ...fact('language', document.documentElement?.getAttribute('lang')),
    ...fact('published', metaOf(document, 'article:published_time')),
  };
}

/** Nothing where there is nothing to say. */
export function fact<Name extends string>(
  name: Name,
  value: string | null | undefined,
): { readonly [key in Name]?: string } {
  const line = withoutHidden((value ?? '').slice(0, LONGEST * 4))
    .text.replaceAll(/\s+/g, ' ')
    .trim();
  return (line === '' ? {} : { [name]: line.slice(0, LONGEST) }) as { readonly [key in Name]?: string };
}

function metaOf(document: PageDocument, property: string): string | null | undefined {
  return document
    .querySelector(`meta[property="${property}"],meta[name="${property}"]`)
    ?.getAttribute('content');
}
