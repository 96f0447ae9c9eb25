// get_current_time: the date and time now, in UTC or in an IANA time zone.

const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/;

export function execute({ timezone = 'UTC' }) {
  const format = ZONE_NAME.test(timezone) ? formatIn(timezone) : undefined;
  if (format === undefined) {
    return {
      ok: false,
      error: {
        type: 'VALIDATION',
        message: 'timezone must be an IANA name such as Europe/Berlin.',
        retryable: false,
        partial_side_effects: false,
        reason: 'UNKNOWN_TIMEZONE',
      },
    };
  }
  const now = new Date();
  return { iso: isoIn(format, now), timezone, unix_ms: now.getTime() };
}

function formatIn(timeZone) {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'longOffset',
    });
  } catch {
    return undefined;
  }
}

function isoIn(format, date) {
  const part = Object.fromEntries(format.formatToParts(date).map(({ type, value }) => [type, value]));
  // "GMT+02:00", or "GMT" alone for no offset.
  const offset = part.timeZoneName.slice('GMT'.length) || '+00:00';
  return `${part.year}-${part.month}-${part.day}T${part.hour}:${part.minute}:${part.second}${offset}`;
}
