// search_web: what any provider found, in one form. Whoever wrote a page wrote its title and snippet too.
// @ts-check

const LONGEST_TITLE = 300;
const LONGEST_SNIPPET = 1_000;
const LONGEST_URL = 2_048;
/** Far more than is shown: what is longer is not looked through. */
const MOST_READ = 10_000;

/** @typedef {import('../../../tools/handlers/handler.d.ts').Context} Context */

/**
 * @param {{ query: string, limit?: number }} args
 * @param {Context} context
 */
export async function execute({ query, limit = 5 }, { callTool }) {
  const found = await callTool('web_search_api', { query, limit });
  const results = Array.isArray(found?.results) ? found.results : [];
  const seen = new Set();
  return { query, results: results.flatMap((result) => shown(result, seen)).slice(0, limit) };
}

/** Nothing where its URL is none of the web, or was there before. */
function shown(result, seen) {
  const url = webUrl(result?.url);
  if (url === undefined || seen.has(url)) return [];
  seen.add(url);
  return [
    {
      title: lineOf(result.title, LONGEST_TITLE) || url,
      url,
      snippet: lineOf(result.snippet, LONGEST_SNIPPET),
    },
  ];
}

function webUrl(text) {
  if (typeof text !== 'string' || text.length > LONGEST_URL) return undefined;
  const url = URL.parse(text);
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url.href : undefined;
}

/** Text on one line, without marks of HTML and without characters that nobody sees. */
function lineOf(text, most) {
  if (typeof text !== 'string') return '';
  const plain = text
    .slice(0, MOST_READ)
    .replaceAll(/<\/?[A-Za-z][^<>]*>/g, '')
    .replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos|nbsp));/gi, decoded)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}]/gu, '')
    .trim();
  return plain.length > most ? `${plain.slice(0, most).toWellFormed().trimEnd()}…` : plain;
}

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

function decoded(written, decimal, hex, name) {
  if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? written;
  const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
  return code > 0x1f && code <= 0x10_ff_ff ? String.fromCodePoint(code) : written;
}
