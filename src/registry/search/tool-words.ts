// Words of a tool and of a question, as they are compared: names taken apart, endings cut off, what every sentence has left out.
import { stemmer } from 'stemmer';

/** Of one field of one tool. */
const MOST_CHARACTERS = 4_000;
const LONGEST_WORD = 40;

/** Words of English that say nothing of what a tool does. */
const EMPTY = new Set(
  (
    'a about after all also am an and any are as at be because been before being by can could did do does doing each ' +
    'for from give given go had has have having he her here him his how i if in into is it its itself just let like me more ' +
    'most my need no nor not now of on once only or other our out over own please same she should so some such ' +
    'tell than that the their them then there these they this those through to too tool under until up use using very want was ' +
    'we were what when where which while who whom why will with would you your'
  ).split(' '),
);

/** `createPullRequest`, `pulls_list-files`, `XMLFile` and prose alike. */
export function wordsOf(text: string): string[] {
  const apart = text
    .slice(0, MOST_CHARACTERS)
    .replaceAll(/(\p{Ll}|\p{Nd})(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase();
  return apart.match(/[\p{L}\p{Nd}]+/gu) ?? [];
}

/** Short forms that names have, of words that people say. */
const WHOLE: ReadonlyMap<string, string> = new Map([
  ['repo', 'repository'],
  ['repos', 'repository'],
  ['org', 'organization'],
  ['orgs', 'organization'],
  ['organisation', 'organization'],
  ['organisations', 'organization'],
  ['config', 'configuration'],
  ['auth', 'authentication'],
  ['env', 'environment'],
  ['info', 'information'],
  ['msg', 'message'],
  ['doc', 'document'],
  ['docs', 'document'],
  ['db', 'database'],
  ['dir', 'directory'],
  ['img', 'image'],
  ['mail', 'email'],
  ['mails', 'email'],
  ['pr', 'pull'],
  ['prs', 'pull'],
]);

/** Sets of tools say the same words again and again. */
const TERMS = new Map<string, string>();
const MOST_TERMS = 20_000;

/** Null: it says nothing. */
export function termOf(word: string): string | null {
  if (EMPTY.has(word) || word.length > LONGEST_WORD) return null;
  let term = TERMS.get(word);
  if (term === undefined) {
    term = stemmer(WHOLE.get(word) ?? word);
    if (TERMS.size >= MOST_TERMS) TERMS.clear();
    TERMS.set(word, term);
  }
  return term;
}

export function termsOf(text: string): readonly string[] {
  return wordsOf(text).flatMap((word) => termOf(word) ?? []);
}
