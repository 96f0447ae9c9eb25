// What a document says in words, as models should read it: without HTML, which many documents write, and without what a reader
// does not see.
import { withoutHidden } from '../../lib/text/hidden-text.ts';
import { htmlText } from '../../lib/text/html-text.ts';

/** More is never kept. */
const READ = 20_000;

export function plainText(text: string): string {
  return withoutHidden(htmlText(text.length > READ ? text.slice(0, READ) : text)).text;
}
