// Connections that another process has accepted, given to an HTTP server that has no port.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export interface HandedConnections {
  take(connection: Socket): void;
  /** Ends what is idle at once, and all that is left `withinMs` later; resolves when nothing is. */
  ended(withinMs: number): Promise<void>;
}

export function handConnections(server: Server): HandedConnections {
  const open = new Set<Socket>();
  let isEnding = false;
  let emptied: (() => void) | undefined;
  // Without a port nothing else starts the clock by which slow and silent clients are sent away.
  server.emit('listening');
  return {
    take(connection) {
      if (isEnding) {
        connection.destroy();
        return;
      }
      open.add(connection);
      connection.once('close', () => {
        open.delete(connection);
        if (open.size === 0) emptied?.();
      });
      server.emit('connection', connection);
    },
    async ended(withinMs) {
      isEnding = true;
      server.closeIdleConnections();
      if (open.size === 0) return;
      const cutOff = setTimeout(() => {
        for (const connection of open) connection.destroy();
      }, withinMs);
      await new Promise<void>((resolve) => (emptied = resolve));
      clearTimeout(cutOff);
    },
  };
}
