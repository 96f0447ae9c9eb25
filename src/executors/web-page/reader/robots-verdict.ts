// Whether a robots.txt lets a URL be fetched (RFC 9309).
import { createRequire } from 'node:module';
import type { Robot } from 'robots-parser';
import type { RobotsTask, RobotsVerdict } from './messages.ts';

/** Its types say that it is an ES module, which it is not. */
const robotsParser = createRequire(import.meta.url)('robots-parser') as (url: string, text: string) => Robot;

export function robotsVerdict({ body, robotsUrl, url, userAgent }: RobotsTask): RobotsVerdict {
  const text = new TextDecoder().decode(body);
  return { kind: 'robots', allowed: robotsParser(robotsUrl, text).isAllowed(url, userAgent) !== false };
}
