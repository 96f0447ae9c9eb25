// SharedPort: a port that the primary holds for all processes; each connection goes to one of them, unread.
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export class SharedPort {
  readonly #server: Server;

  constructor(give: (connection: Socket) => void) {
    this.#server = createServer({ pauseOnConnect: true }, (connection) => {
      connection.on('error', () => connection.destroy());
      give(connection);
    });
  }

  /** The port in use. Rejects when it cannot be had. */
  listen(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => resolve((this.#server.address() as AddressInfo).port));
    });
  }

  /** Takes no more. Those that were given away are not its any more. */
  close(): void {
    this.#server.close();
  }
}
