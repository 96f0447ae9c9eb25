// business-hours: refuses tools of one tag outside opening hours. An extension of the operator's own, loaded by gateway.yaml.
import type { ExtensionModule } from 'unified-tool-executor/plugin';

interface Hours {
  readonly tag: string;
  readonly open: string;
  readonly close: string;
  readonly timezone: string;
}

const MINUTE_MS = 60_000;
const MINUTES_PER_DAY = 24 * 60;

/** The gateway hands over what a module needs from it: at run time this file imports nothing. */
export const plugin: ExtensionModule<Hours, ['clock']> = ({ z, ToolFailure }) => {
  const time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day such as 09:00');
  const timezone = z.string().refine(isTimeZone, 'must be an IANA time zone such as Europe/Berlin');

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
    create: ({ clock }) => ({
      stage: 'tool',
      onFailure: 'deny',
      // Once per tool at load: tools without the tag do not pay for the extension.
      prepare(fn, { tag, open, close, timezone: zone }) {
        if (!fn.spec.metadata.tags.includes(tag)) return undefined;
        const [opens, closes] = [minutesOf(open), minutesOf(close)];
        const timeThere = timeIn(zone);
        return (call, next) => {
          const now = minutesOf(timeThere.format(clock.wall()));
          if (isWithin(now, opens, closes)) return next(call);
          const minutesToWait = (opens - now + MINUTES_PER_DAY) % MINUTES_PER_DAY;
          throw new ToolFailure('UNAVAILABLE', `This tool serves from ${open} to ${close} (${zone}).`, {
            reason: 'OUTSIDE_BUSINESS_HOURS',
            retryAfterMs: minutesToWait * MINUTE_MS,
          });
        };
      },
    }),
  };
};

/** `close` before `open` means over midnight. */
function isWithin(now: number, open: number, close: number): boolean {
  return open <= close ? now >= open && now < close : now >= open || now < close;
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

function timeIn(timeZone: string): Intl.DateTimeFormat {
  const parts = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  return new Intl.DateTimeFormat('en-GB', { timeZone, ...parts });
}

function isTimeZone(name: string): boolean {
  try {
    timeIn(name);
    return true;
  } catch {
    return false;
  }
}
