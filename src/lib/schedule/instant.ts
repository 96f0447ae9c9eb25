// A moment as people and programs write it (RFC 3339): read exactly, or not at all.

const INSTANT = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,6})?)?(?:Z|[+-](\d\d):(\d\d))$/;

/**
 * With its offset, and seconds where they are said. Undefined for anything else, also for a day that there is not: a Date
 * would take 30 February for a day of March, and 24:00 for the next day.
 */
export function parseInstant(text: string): Date | undefined {
  const found = INSTANT.exec(text);
  if (found === null) return undefined;
  const [year, month, day, hour, minute, second, offsetHour, offsetMinute] = found
    .slice(1)
    .map((digits) => Number(digits ?? 0)) as Eight;
  const isDay = month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month);
  const isTime = hour < 24 && minute < 60 && second < 60 && offsetHour < 24 && offsetMinute < 60;
  return isDay && isTime ? new Date(text) : undefined;
}

type Eight = [number, number, number, number, number, number, number, number];

function daysOf(year: number, month: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31;
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
}
