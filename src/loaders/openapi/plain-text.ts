// What a document says in words, as models should read it: without HTML, which many documents write.
import { htmlText } from '../../lib/text/html-text.ts';

/** More is never kept. */
const READ = 20_000;

export function plainText(text: string): string {
  return htmlText(text.length > READ ? text.slice(0, READ) : text);
}
