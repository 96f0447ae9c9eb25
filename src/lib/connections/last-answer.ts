// The last answer on a connection, past all that a server of HTTP would see to: who does not close its side is cut off.
import type { Duplex } from 'node:stream';

/** So long the other end has to take the answer and to close its side: Node would wait for that for ever. */
const LINGER_MS = 1_000;

export function giveLastAnswer(socket: Duplex, text: string): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
  socket.end(text);
}
