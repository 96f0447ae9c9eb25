// The URL that an argument names, or a redirect leads to: of the web, without a user, and of a bounded length.

const MOST_CHARACTERS = 2_048;

export type ReadUrl = { readonly url: URL } | { readonly message: string };

/** `base`: what a redirect starts from. The message says what was expected, and ends without a full stop. */
export function readArgumentUrl(text: unknown, base?: URL): ReadUrl {
  if (typeof text !== 'string') return { message: 'expected a URL as text' };
  if (text.length > MOST_CHARACTERS) return { message: `expected at most ${MOST_CHARACTERS} characters` };
  // URL.parse drops line ends and tabs inside, so that two readers see two URLs.
  if (/[\x00-\x20\x7f\\]/.test(text.trim()))
    return { message: 'expected no blanks, control characters or "\\" in it' };
  const url = base === undefined ? URL.parse(text.trim()) : URL.parse(text.trim(), base.href);
  if (url === null) return { message: 'expected an absolute URL such as https://example.com/page' };
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return { message: `expected http or https, found ${JSON.stringify(url.protocol.slice(0, 20))}` };
  if (url.username !== '' || url.password !== '')
    return { message: 'expected no user and no password in it' };
  url.hash = '';
  return url.href.length > MOST_CHARACTERS
    ? { message: `expected at most ${MOST_CHARACTERS} characters once it is encoded` }
    : { url };
}
