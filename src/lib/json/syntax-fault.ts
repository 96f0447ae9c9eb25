// Where a text stops being JSON (RFC 8259). For texts that JSON.parse has refused: what V8 says of the place depends on its mood.

type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or end';

const SPACE = /[ \t\n\r]*/y;
const SCALAR =
  /"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/uy;

/** In UTF-16 units from its start; its length where it ends too early. Undefined: it is JSON. */
export function syntaxFault(text: string): number | undefined {
  const open: ('{' | '[')[] = [];
  let expected: Expected = 'value';
  let at = 0;
  for (;;) {
    at = endOf(SPACE, text, at);
    const found = text[at];
    if (found === undefined) return open.length === 0 && expected === ', or end' ? undefined : at;
    const next = step(found, expected, open);
    if (next === undefined) return at;
    if (next !== 'scalar') {
      expected = next;
      at += 1;
      continue;
    }
    const isName: boolean = expected === 'name' || expected === 'name or }';
    const end = isName && found !== '"' ? at : endOf(SCALAR, text, at);
    if (end === at) return at;
    at = end;
    expected = isName ? ':' : ', or end';
  }
}

/** What comes after this character; 'scalar' where it begins one, undefined where it may not stand. */
function step(found: string, expected: Expected, open: ('{' | '[')[]): Expected | 'scalar' | undefined {
  const inside = open.at(-1);
  if (expected === ':') return found === ':' ? 'value' : undefined;
  if (expected === ', or end') {
    if (found === ',' && inside !== undefined) return inside === '{' ? 'name' : 'value';
    return closes(found, inside, open);
  }
  if (expected === 'name or }' && found === '}') return closes(found, inside, open);
  if (expected === 'value or ]' && found === ']') return closes(found, inside, open);
  const isValue = expected === 'value' || expected === 'value or ]';
  if (isValue && (found === '{' || found === '[')) {
    open.push(found);
    return found === '{' ? 'name or }' : 'value or ]';
  }
  return 'scalar';
}

function closes(found: string, inside: string | undefined, open: string[]): Expected | undefined {
  if (found !== (inside === '{' ? '}' : ']') || inside === undefined) return undefined;
  open.pop();
  return ', or end';
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
