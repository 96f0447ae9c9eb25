// The time of a day as people write it: 9am, 9:30 pm, 21:00, noon. A bare 9 may be either half of the day, and is refused.

export type TimeOfDay =
  | { readonly ok: true; readonly hour: number; readonly minute: number }
  | { readonly ok: false; readonly problem: string; readonly offered: readonly string[] };

export function readTime(word: string): TimeOfDay {
  if (word === 'noon') return { ok: true, hour: 12, minute: 0 };
  if (word === 'midnight') return { ok: true, hour: 0, minute: 0 };
  const match = /^(\d{1,2})(?::(\d{2}))? ?([ap]m)?$/.exec(word);
  if (match === null) return wrong(word);
  const hour = Number(match[1]);
  const minute = Number(match[2] ?? 0);
  const half = match[3];
  if (minute > 59) return wrong(word);
  if (half !== undefined) {
    if (hour < 1 || hour > 12) return wrong(word);
    return { ok: true, hour: (hour % 12) + (half === 'pm' ? 12 : 0), minute };
  }
  if (hour > 23) return wrong(word);
  // Two digits and a colon are the 24-hour clock; a lone number up to twelve is not sure to be.
  if (match[2] === undefined && hour <= 12) {
    return {
      ok: false,
      problem: `${hour} may be in the morning or in the evening`,
      offered: [`${hour}am`, `${hour}pm`],
    };
  }
  return { ok: true, hour, minute };
}

function wrong(word: string): TimeOfDay {
  return { ok: false, problem: `"${word.slice(0, 20)}" is no time of the day`, offered: ['9am', '18:30'] };
}
