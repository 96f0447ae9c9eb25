// Schedules as people write them: "5m", "in 2 hours", "daily 9am", "weekdays 6pm", a cron expression. What could mean two
// things is refused, with the ways to say either.
import { cronProblem } from './cron.ts';
import { readTime } from './time-of-day.ts';

/** `delayMs` counts from when the schedule is made; `at` is ISO 8601, in the schedule's time zone where it names none. */
export type Schedule =
  | { readonly kind: 'once'; readonly delayMs: number }
  | { readonly kind: 'once'; readonly at: string }
  | { readonly kind: 'recurring'; readonly cron: string };

export type ParsedSchedule =
  | { readonly ok: true; readonly schedule: Schedule }
  | {
      readonly ok: false;
      readonly problem: string;
      /** What may have been meant, each as it would have to be written. */
      readonly offered: readonly string[];
    };

const MAX_LENGTH = 200;
const MAX_DELAY_MS = 366 * 86_400_000;
const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const WORDS: Readonly<Record<string, string>> = {
  second: 's', seconds: 's', sec: 's', secs: 's', minute: 'm', minutes: 'm', min: 'm', mins: 'm',
  hour: 'h', hours: 'h', hr: 'h', hrs: 'h', day: 'd', days: 'd', s: 's', m: 'm', h: 'h', d: 'd',
}; // oxfmt-ignore
const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const NICKNAMES: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  hourly: '0 * * * *',
};
const EXAMPLES = ['in 5 minutes', 'daily 9am', 'weekdays 18:00', 'monday 10am', '*/15 * * * *'];

/** Never throws. */
export function parseSchedule(text: string): ParsedSchedule {
  const said = text.trim().replace(/\s+/g, ' ');
  if (said === '' || said.length > MAX_LENGTH)
    return refused(`a schedule has 1 to ${MAX_LENGTH} characters`, EXAMPLES);
  if (/^\d+\s?M$/.test(said)) {
    const count = said.replace(/\s?M$/, '');
    return refused('M may mean minutes or months', [`${count}m`, `monthly 1st 9am`]);
  }
  const words = said.toLowerCase();
  return (
    delayIn(words) ??
    intervalIn(words) ??
    instantIn(said) ??
    nicknameOrCron(words) ??
    daysIn(words) ??
    refused(`"${text.slice(0, 60)}" is no schedule`, EXAMPLES)
  );
}

/** "5m", "in 2 hours". */
function delayIn(words: string): ParsedSchedule | undefined {
  const match = /^(?:in )?(\d{1,9}) ?([a-z]+)$/.exec(words);
  const unit = UNITS[WORDS[match?.[2] ?? ''] ?? ''];
  if (match === null || unit === undefined) return undefined;
  const delayMs = Number(match[1]) * unit;
  if (delayMs < 1 || delayMs > MAX_DELAY_MS)
    return refused('a delay is between 1 second and 366 days', ['1d']);
  return { ok: true, schedule: { kind: 'once', delayMs } };
}

/** "every 15 minutes": only where the clock divides evenly, so that all gaps are alike. */
function intervalIn(words: string): ParsedSchedule | undefined {
  const match = /^every (?:(\d{1,4}) ?)?([a-z]+)$/.exec(words);
  const unit = WORDS[match?.[2] ?? ''];
  if (match === null || unit === undefined) return undefined;
  const count = Number(match[1] ?? 1);
  const rest: Readonly<Record<string, readonly [within: number, cron: string]>> = {
    m: [60, count === 1 ? '* * * * *' : `*/${count} * * * *`],
    h: [24, count === 1 ? '0 * * * *' : `0 */${count} * * *`],
    d: [1, '0 0 * * *'],
  };
  const [within, cron] = rest[unit] ?? [0, ''];
  if (unit === 's') return refused('a schedule runs at most once a minute', ['every minute']);
  if (unit === 'd') return refused('at what time of the day?', ['daily 9am', 'daily 00:00']);
  if (count < 1 || within % count !== 0) {
    const near = [...Array(within).keys()].map((n) => n + 1).filter((n) => within % n === 0 && n > 1);
    const offered = near.filter((n) => Math.abs(n - count) <= 5).map((n) => `every ${n}${unit}`);
    return refused(`${count}${unit} does not divide ${within}${unit} into equal parts`, [...offered, cron]);
  }
  return recurring(cron);
}

/** "2026-12-24T18:00", with or without an offset. */
function instantIn(said: string): ParsedSchedule | undefined {
  const match = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?(?:\.\d+)?(Z|[+-]\d{2}:\d{2})?$/i.exec(said);
  if (match === null) {
    const slashes = /^\d{1,2}[/.-]\d{1,2}([/.-]\d{2,4})?\b/.test(said);
    return slashes && !isRatherCron(said)
      ? refused('a date may be read with the month or the day first', ['2026-12-24 18:00'])
      : undefined;
  }
  const [, date = '', time = '', seconds = ':00', offset = ''] = match;
  const at = `${date}T${time}${seconds}${offset.toUpperCase()}`;
  // What is no date rolls over into another: 31 February.
  const asUtc = new Date(`${date}T${time}${seconds}Z`);
  if (Number.isNaN(asUtc.getTime()) || !asUtc.toISOString().startsWith(`${date}T${time}`))
    return refused('there is no such date', ['2026-12-24 18:00']);
  return { ok: true, schedule: { kind: 'once', at } };
}

/** "0/5 * * * *" begins like a date. */
function isRatherCron(said: string): boolean {
  return said.includes('*') && said.split(' ').length === CRON_MOST.length;
}

/** What a field of a cron expression goes up to. */
const CRON_MOST = [59, 23, 31, 12, 6] as const;

/** With a range for each start that a step stands behind, which others take for one: 0/5 is 0-59/5. */
function withRanges(words: string): string {
  const fields = words.split(' ');
  const ranged = fields.map((field, at) =>
    field.replaceAll(/(?<![\d-])(\d+)\//g, `$1-${CRON_MOST[at] ?? ''}/`),
  );
  return ranged.join(' ').replace(/^0-59\//, '*/');
}

function nicknameOrCron(words: string): ParsedSchedule | undefined {
  const nickname = Object.hasOwn(NICKNAMES, words) ? NICKNAMES[words] : undefined;
  if (nickname !== undefined) return recurring(nickname);
  if (!/^[\d*]/.test(words) || !words.includes(' ')) return undefined;
  const problem = cronProblem(words);
  const meant = withRanges(words);
  if (problem !== undefined && meant !== words && cronProblem(meant) === undefined)
    return refused('a step stands behind * or a range, and not behind one number', [meant.toUpperCase()]);
  return problem === undefined ? recurring(words.toUpperCase()) : refused(problem, ['0 9 * * 1-5']);
}

/** "daily 9am", "mon,wed at 14:00", "monthly 1st 9am", "last day 18:00". */
function daysIn(words: string): ParsedSchedule | undefined {
  const match = /^(?:every |on )?(.+?)(?: at)? (\S+(?: ?[ap]m)?)$/.exec(words);
  const fields = daysOf(match?.[1] ?? words);
  if (fields === 'ambiguous')
    return refused('this may mean twice in the period or every second one', ['mon,thu 9am', '0 9 1,15 * *']);
  if (match === null || fields === undefined) {
    const alone = daysOf(words.replace(/^(?:every|on) /, ''));
    return typeof alone === 'object'
      ? refused('at what time of the day?', [`${words} 9am`, `${words} 00:00`])
      : undefined;
  }
  const time = readTime(match[2] ?? '');
  if (!time.ok) {
    return refused(
      time.problem,
      time.offered.map((each) => `${match[1] ?? ''} ${each}`),
    );
  }
  const [dayOfMonth, dayOfWeek] = fields;
  return recurring(`${time.minute} ${time.hour} ${dayOfMonth} * ${dayOfWeek}`);
}

function daysOf(words: string): readonly [dayOfMonth: string, dayOfWeek: string] | 'ambiguous' | undefined {
  if (/^bi-?(?:weekly|monthly|daily)$/.test(words)) return 'ambiguous';
  if (words === 'daily' || words === 'day') return ['*', '*'];
  if (/^weekdays?$/.test(words)) return ['*', '1-5'];
  if (/^weekends?$/.test(words)) return ['*', '0,6'];
  if (/^(?:monthly )?(?:on )?(?:the )?last day(?: of the month)?$/.test(words)) return ['L', '*'];
  const ordinal = /^monthly (?:on )?(?:the )?(\d{1,2})(?:st|nd|rd|th)$/.exec(words)?.[1];
  if (ordinal !== undefined)
    return Number(ordinal) >= 1 && Number(ordinal) <= 31 ? [ordinal, '*'] : undefined;
  const numbers = words.split(/ ?, ?| and /).map(dayNumber);
  if (numbers.some((number) => number === undefined)) return undefined;
  return ['*', [...new Set(numbers)].sort((a = 0, b = 0) => a - b).join(',')];
}

/** Full names, their plurals, and the first three letters. */
function dayNumber(word: string): number | undefined {
  const index = DAYS.findIndex((day) => word === day || word === `${day}s` || word === day.slice(0, 3));
  return index < 0 ? undefined : index;
}

function recurring(cron: string): ParsedSchedule {
  return { ok: true, schedule: { kind: 'recurring', cron } };
}

function refused(problem: string, offered: readonly string[]): ParsedSchedule {
  return { ok: false, problem, offered };
}
