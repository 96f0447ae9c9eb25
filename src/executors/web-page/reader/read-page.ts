// Reads a fetched body: HTML becomes the Markdown of its main text, other text stays as it is.
import { Readability } from '@mozilla/readability';
import { htmlText } from '../../../lib/text/html-text.ts';
import { withoutHidden } from '../../../lib/text/hidden-text.ts';
import { kindOfType, looksLikeHtml, notTextAs } from './content-kind.ts';
import { decodeText } from './decode-text.ts';
import { isTreeSized } from './measure-html.ts';
import type { NoText, PageTask, ReadPage } from './messages.ts';
import { fact, factsOf, type PageFacts } from './page-facts.ts';
import { dropWhatIsNotRead, resolveLinks, treeOf, type PageDocument, type PageElement } from './page-tree.ts';
import { writeMarkdown } from './write-markdown.ts';

type WholePage = Omit<ReadPage, 'totalCharacters'>;

/** A main text that is shorter is none: the page is a list, a form, or says little. */
const LEAST_CHARACTERS = 200;

export function readPage(task: PageTask): ReadPage | NoText {
  const what = notTextAs(task.body);
  if (what !== undefined) return { kind: 'no-text', what };
  const page = wholeOf(task);
  return { ...page, ...piece(withoutHidden(page.content).text, task) };
}

function wholeOf({ body, contentType, url, whole }: PageTask): WholePage {
  const kind = kindOfType(contentType);
  const text = decodeText(body, contentType, kind !== 'text');
  const isHtml = kind === 'html' || (kind !== 'text' && looksLikeHtml(text));
  if (!isHtml) return { kind: 'page', format: 'text', content: text };
  return (isTreeSized(text) ? fromTree(text, url, whole) : undefined) ?? plain(text);
}

/** What is too large, too deep or too strange to be a tree is still text. */
function plain(html: string): WholePage {
  return { kind: 'page', format: 'text', content: htmlText(html) };
}

/** Undefined: it is no tree that can be worked on, whatever the reason. What runs out of memory or time ends the thread. */
function fromTree(html: string, url: string, whole: boolean): WholePage | undefined {
  try {
    const document = prepared(html, url);
    const facts = factsOf(document);
    const main = whole ? undefined : mainOf(document, facts);
    if (main !== undefined) return main;
    // Looking for a main text takes the tree apart.
    const { body } = whole ? document : prepared(html, url);
    if (body === null) return undefined;
    return { kind: 'page', format: 'markdown', ...facts, content: writeMarkdown(body) };
  } catch {
    return undefined;
  }
}

function prepared(html: string, url: string): PageDocument {
  const document = treeOf(html);
  resolveLinks(document, url);
  dropWhatIsNotRead(document);
  return document;
}

function mainOf(document: PageDocument, facts: PageFacts): WholePage | undefined {
  // Its types are those of a browser. The serializer leaves the result the tree that it is.
  const reader = new Readability<PageElement>(document, { serializer: (node: PageElement) => node });
  const found = reader.parse();
  if ((found?.textContent ?? '').trim().length < LEAST_CHARACTERS) return undefined;
  const { title, byline, siteName, lang, publishedTime, content } = found ?? {};
  if (content === undefined || content === null) return undefined;
  return {
    kind: 'page',
    format: 'markdown',
    ...facts,
    ...fact('title', title),
    ...fact('byline', byline),
    ...fact('site', siteName),
    ...fact('language', lang),
    ...fact('published', publishedTime),
    content: writeMarkdown(content),
  };
}

/** Cut between characters: half of one is none. */
function piece(text: string, { offset, maxCharacters }: PageTask) {
  const from = isInside(text, offset) ? offset - 1 : offset;
  const end = Math.min(text.length, from + maxCharacters);
  const to = end < text.length && isInside(text, end) ? end - 1 : end;
  return { content: text.slice(from, to), totalCharacters: text.length };
}

/** The place lies between the two halves of one character. */
function isInside(text: string, at: number): boolean {
  const after = text.charCodeAt(at);
  return at > 0 && after >= 0xdc00 && after <= 0xdfff;
}
