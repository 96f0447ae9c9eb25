// A call whose name stands before its arguments, as the templates of some models write it: a mark with the name, then an object.

/** A mark is no longer. */
const LONGEST = 400;
const NAME = String.raw`(?:functions\.)?([A-Za-z0-9_.-]{1,128}?)`;

interface Mark {
  /** What each begins with: looked for before anything else. */
  readonly begins: string;
  /** From there to the object. */
  readonly whole: RegExp;
  /** Only at the start of a line, and not behind a result: those are made up. */
  readonly isReact?: true;
}

const mark = (begins: string, whole: string): Mark => ({ begins, whole: new RegExp(`^${whole}\\s*$`) });

const MARKS: readonly Mark[] = [
  // Llama 3.1: <function=name>{…}</function>
  mark('<function', String.raw`<function(?:=|\(|\s+name=)["']?${NAME}["']?\)?\s*>`),
  // Mistral: [TOOL_CALLS]name[ARGS]{…}
  mark('[TOOL_CALLS]', String.raw`\[TOOL_CALLS\]\s*${NAME}(?:\[CALL_ID\][\w-]{1,64})?(?:\[ARGS\])?`),
  // DeepSeek V3, and V3.1.
  mark('<｜tool▁call▁begin｜>', `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${NAME}\\s*\`\`\`(?:json)?`),
  mark('<｜tool▁call▁begin｜>', `<｜tool▁call▁begin｜>\\s*${NAME}\\s*<｜tool▁sep｜>`),
  // Kimi K2: the name comes with the number of the call.
  mark(
    '<|tool_call_begin|>',
    String.raw`<\|tool_call_begin\|>\s*${NAME}(?::\d{1,4})?\s*<\|tool_call_argument_begin\|>`,
  ),
  // gpt-oss: <|channel|>commentary to=functions.name <|constrain|>json<|message|>{…}
  mark(
    'to=functions.',
    String.raw`to=${NAME}\s*(?:<\|channel\|>\w{1,16}\s*)?(?:(?:<\|constrain\|>\s*)?\w{1,16}\s*)?<\|message\|>`,
  ),
  // Functionary: >>>name, and its arguments on the next line.
  mark('>>>', `>>>${NAME}[ \\t]*\\n`),
  // ReAct: a line with the tool, a line with its input.
  {
    begins: 'Action:',
    whole: new RegExp(
      `^Action:\\**\\s*\`?${NAME}\`?\\s*\\n\\s*\\**Action Input:\\**\\s*(?:\`\`\`(?:json)?\\s*)?$`,
    ),
    isReact: true,
  },
];
const MADE_UP = /^[ \t*]*Observation:/m;
const LINE_START = /(?:^|\n)[ \t*]*$/;
const CLOSING_BRACE = 125;
const COMMA = 44;

export class NamedBefore {
  readonly #text: string;
  #madeUpFrom: number | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** The name that stands before an object which begins at `start`; `from`: what was before it is done with. */
  of(start: number, from: number): string | undefined {
    const last = this.#text.charCodeAt(start - 1);
    // Most objects stand behind something else.
    if (start === from || last === CLOSING_BRACE || last === COMMA) return undefined;
    const at = Math.max(from, start - LONGEST);
    const before = this.#text.slice(at, start);
    for (const { begins, whole, isReact } of MARKS) {
      const index = before.lastIndexOf(begins);
      const name = index === -1 ? undefined : whole.exec(before.slice(index))?.[1];
      if (name === undefined) continue;
      if (isReact !== true || (LINE_START.test(before.slice(0, index)) && this.#isOwn(start))) return name;
    }
    return undefined;
  }

  /** An act that follows on a result which the model has made up, since nothing stopped it, is none. */
  #isOwn(start: number): boolean {
    if (this.#madeUpFrom === undefined) {
      const found = MADE_UP.exec(this.#text);
      this.#madeUpFrom = found === null ? Infinity : found.index;
    }
    return start < this.#madeUpFrom;
  }
}
