// Hears of changes of a server's tools, for as long as its session is open.
import type { Client } from '@modelcontextprotocol/client';
import { backoffMs, type Backoff } from '../../lib/timers/backoff.ts';
import type { SessionEvents, SessionNeeds } from './session-needs.ts';

const LISTEN_AGAIN: Backoff = { firstMs: 10_000, lastMs: 1_200_000, least: 0.5 };

/** Since 2026-07-28 changes are told only to those who ask for it; older servers tell everybody. */
export function listenForChanges(
  client: Client,
  { clock, log, random }: SessionNeeds,
  isOpen: () => boolean,
  events: SessionEvents,
): void {
  if (client.getProtocolEra() !== 'modern' || client.getServerCapabilities()?.tools?.listChanged !== true)
    return;
  const listen = (failures: number): void => {
    const again = (next: number): void => {
      const delay = backoffMs(LISTEN_AGAIN, next, random);
      clock.after(delay, () => {
        if (!isOpen()) return;
        // Nobody tells of what changes in the meantime.
        events.toolsChanged();
        listen(next);
      });
    };
    client.listen({ toolsListChanged: true }).then(
      (subscription) => void subscription.closed.then(() => again(0)),
      (error: unknown) => {
        log.debug({ err: String(error).slice(0, 500) }, 'an MCP server does not tell of changes');
        again(failures + 1);
      },
    );
  };
  listen(0);
}
