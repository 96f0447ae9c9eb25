// business-hours: refuses tools of one tag outside opening hours. An extension of the operator's own, loaded by gateway.yaml.

const MINUTE_MS = 60_000;
const MINUTES_PER_DAY = 24 * 60;

/** The gateway hands over what a module needs from it, so this file imports nothing. */
export function plugin({ z, fromHooks, ToolFailure }) {
  const time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day such as 09:00');
  const timezone = z.string().refine(isTimeZone, 'must be an IANA time zone such as Europe/Berlin');

  function before({ clock }, { open, close, timezone: zone }) {
    const now = minutesOfDay(clock.now(), zone);
    if (isWithin(now, minutesOf(open), minutesOf(close))) return;
    const minutesToWait = (minutesOf(open) - now + MINUTES_PER_DAY) % MINUTES_PER_DAY;
    throw new ToolFailure('UNAVAILABLE', `This tool serves from ${open} to ${close} (${zone}).`, {
      reason: 'OUTSIDE_BUSINESS_HOURS',
      retryAfterMs: minutesToWait * MINUTE_MS,
    });
  }

  return {
    name: 'business-hours',
    summary: 'Refuses tools of one tag outside opening hours.',
    optionsSchema: z.strictObject({
      tag: z.string().min(1).default('office'),
      open: time.default('09:00'),
      close: time.default('17:00'),
      timezone: timezone.default('UTC'),
    }),
    // The ports that create() gets.
    needs: ['clock'],
    create({ clock }) {
      const hooks = fromHooks({ stage: 'tool', before: (_call, options) => before({ clock }, options) });
      return {
        ...hooks,
        // Once per tool at load: tools without the tag do not pay for the extension.
        prepare(fn, options) {
          return fn.spec.metadata.tags.includes(options.tag) ? hooks.prepare(fn, options) : undefined;
        },
      };
    },
  };
}

/** `close` before `open` means over midnight. */
function isWithin(now, open, close) {
  return open <= close ? now >= open && now < close : now >= open || now < close;
}

function minutesOf(time) {
  const [hours, minutes] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

function minutesOfDay(epochMs, timeZone) {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return minutesOf(format.format(epochMs));
}

function isTimeZone(name) {
  try {
    return Boolean(new Intl.DateTimeFormat('en-GB', { timeZone: name }));
  } catch {
    return false;
  }
}
