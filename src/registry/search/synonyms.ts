// What people say for what tools do. About the words of tools in general: none is of any one product.
import { termOf } from './tool-words.ts';

/** Words of a row are taken for each other, the first of them being what tools are mostly called. */
const ROWS = [
  ['create', 'add', 'make', 'new', 'open', 'insert', 'write', 'set', 'publish', 'register', 'put'],
  ['get', 'read', 'show', 'fetch', 'retrieve', 'view', 'see', 'look', 'describe', 'check'],
  ['list', 'show', 'all', 'which', 'what', 'who', 'see', 'every'],
  ['update', 'change', 'edit', 'modify', 'set', 'close', 'reopen', 'replace', 'dismiss'],
  ['delete', 'remove', 'drop', 'erase', 'take', 'clear', 'unset'],
  ['search', 'find', 'look', 'query'],
  ['enable', 'turn', 'activate', 'switch', 'allow'],
  ['disable', 'turn', 'deactivate', 'switch', 'stop'],
  ['start', 'run', 'launch', 'begin', 'trigger', 'dispatch'],
  ['run', 'execute', 'start'],
  ['stop', 'cancel', 'end', 'abort', 'halt'],
  ['send', 'post', 'submit', 'upload', 'notify'],
  ['download', 'export', 'get', 'fetch', 'archive'],
  ['user', 'person', 'people', 'somebody', 'someone', 'member', 'who'],
  ['member', 'who', 'people', 'person', 'belong'],
  ['repository', 'project'],
  ['organization', 'company'],
  ['authenticated', 'me', 'my', 'mine', 'own', 'i', 'account'],
  ['comment', 'reply', 'message'],
  ['file', 'content', 'document'],
  ['permission', 'access', 'right'],
  ['invite', 'invitation'],
  ['configuration', 'setting'],
  ['delete', 'cancel', 'revoke'],
  ['picture', 'image', 'photo'],
] as const;

const RELATED = new Map<string, Set<string>>();
for (const [first, ...others] of ROWS) {
  const goal = termOf(first);
  if (goal === null) continue;
  for (const other of others) {
    // Also of a word that says nothing by itself: "who" asks for a list.
    const term = termOf(other) ?? other;
    const goals = RELATED.get(term) ?? new Set();
    RELATED.set(term, goals.add(goal));
  }
}

/** Terms that a word of a question may stand for, besides itself. */
export function relatedTerms(word: string): readonly string[] {
  return [...(RELATED.get(termOf(word) ?? word) ?? [])];
}
