// One upstream cut in the middle of voice calls: the database of the tools. What is heard then is the sentence that offers to take a message,
// or what the session has heard before, and never a fact that nobody looked up.
import { report } from './measure.js';

const SENTENCE = "I'm having trouble pulling that up right now. Would you like me to take a message?";
/** Without the sentence: what is to be written down fails as what it is. */
const WRITES = new Set(['create_booking', 'cancel_booking']);

/** Connections of the tools end, and there are no new ones; those of the gateway's own database go on. */
export async function cut(postgres) {
  await postgres.sql('ALTER ROLE agent NOLOGIN');
  await postgres.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'agent'");
}

export const nothingHeard = () => ({ sentences: 0, kept: 0, refused: 0, silent: 0, wrong: 0 });

/** `isForeign`: it names another business. */
export function countCut(heard, tool, { ok, result, meta }, isForeign) {
  if (isForeign) heard.wrong += 1;
  else if (!ok && WRITES.has(tool)) heard.refused += 1;
  else if (!ok) heard.silent += 1;
  else if (meta.cached && !meta.fallback) heard.kept += 1;
  else if (meta.fallback && Object.keys(result).length === 1 && result.message === SENTENCE)
    heard.sentences += 1;
  else heard.wrong += 1;
}

/** `calls`: how many were made. */
export function tellCut({ sentences, kept, refused, silent, wrong }, calls) {
  const unanswered = calls - sentences - kept - refused - silent - wrong;
  report(
    'streams, the database of the tools cut in the middle of all voice calls',
    `${sentences} lookups heard the sentence that offers to take a message, ${kept} what their session had heard before; ${refused} writes were refused`,
    '–',
    `wrong facts: ${wrong}; lookups that heard neither: ${silent}; calls without an answer: ${unanswered}`,
    '0, 0, 0',
    sentences > 0 && wrong === 0 && silent === 0 && unanswered === 0,
  );
}
