// The steps of a page of documentation: its commands, one block at a time, each with the answer that the page shows for it.
const BLOCK = /^```(\w+)\n(.*?)^```$/gms;
const CALL_ID = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}';
const CONFIRMATION = String.raw`ute_confirm_[\w-]+`;
/** Shown once, put in again by later commands: what stands for them is kept. */
const KEPT = `${CALL_ID}|${CONFIRMATION}`;
const MOMENT = String.raw`\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)`;
/** What differs each time, as the page shows it, and what may stand there. */
const DIFFERENT: readonly (readonly [shown: string, found: string])[] = [
  ['…', String.raw`[\s\S]*?`],
  [KEPT, `(${KEPT})`],
  [MOMENT, MOMENT],
  [String.raw`(?<=\})\d+\.\d{3,}`, String.raw`[\d.e-]+`],
  [String.raw`"(?:duration_ms|unix_ms)":[\d.]+`, String.raw`"(?:duration_ms|unix_ms)":[\d.]+`],
  [String.raw`"registry_version":"[^"]+"`, String.raw`"registry_version":"[^"]+"`],
];
const ANY_DIFFERENT = new RegExp(DIFFERENT.map(([shown]) => `(${shown})`).join('|'), 'g');

export interface Step {
  readonly commands: string;
  /** As the page shows it; what differs each time is `…` there, or an id, a moment or a number of its kind. */
  readonly answer?: string;
}

export function stepsOf(page: string): readonly Step[] {
  const steps: { commands: string; answer?: string }[] = [];
  for (const [, language = '', text = ''] of page.matchAll(BLOCK)) {
    const last = steps.at(-1);
    if (language === 'sh') steps.push({ commands: text });
    else if (last !== undefined && last.answer === undefined) last.answer = text;
  }
  return steps;
}

/** How it is laid out is not part of an answer. */
export function withoutSpace(text: string): string {
  return text.replaceAll(/\s+/g, '');
}

/** Of a whole answer, without space. */
export function patternOf(answer: string): RegExp {
  const shown = withoutSpace(answer);
  let pattern = '';
  let end = 0;
  for (const match of shown.matchAll(ANY_DIFFERENT)) {
    const which = match.slice(1).findIndex((group) => group !== undefined);
    pattern += literal(shown.slice(end, match.index)) + (DIFFERENT[which]?.[1] ?? '');
    end = match.index + match[0].length;
  }
  return new RegExp(`^${pattern}${literal(shown.slice(end))}$`);
}

/** The ids and tokens that a page shows, each with the one that was found in its place. */
export function keptOf(answer: string, output: string): readonly (readonly [shown: string, found: string])[] {
  const shown = withoutSpace(answer).match(new RegExp(KEPT, 'g')) ?? [];
  const [, ...found] = patternOf(answer).exec(withoutSpace(output)) ?? [];
  return shown.map((each, at) => [each, found[at] ?? each]);
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
