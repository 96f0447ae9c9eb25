// ProgressLimiter: lets progress through that moves forward, and not more of it than anybody can follow.
import type { SecretScrubber } from '../../../lib/secrets/scrub-secrets.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { McpProgress } from '../../../ports/egress/mcp-servers.ts';

const MIN_INTERVAL_MS = 100;
const MAX_MESSAGE_CHARS = 500;

export function limitProgress(
  clock: Clock,
  { cut }: Pick<SecretScrubber, 'cut'>,
  pass: (progress: McpProgress) => void,
): (progress: McpProgress) => void {
  let last = Number.NEGATIVE_INFINITY;
  let lastAt = Number.NEGATIVE_INFINITY;
  return ({ progress, total, message }) => {
    const now = clock.now();
    if (!Number.isFinite(progress) || progress <= last || now - lastAt < MIN_INTERVAL_MS) return;
    last = progress;
    lastAt = now;
    pass({
      progress,
      ...(total !== undefined && Number.isFinite(total) && { total }),
      ...(message !== undefined && { message: cut(message, MAX_MESSAGE_CHARS) }),
    });
  };
}
