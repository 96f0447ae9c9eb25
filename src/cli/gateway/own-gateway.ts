// Where the gateway of these settings listens: what the commands talk to when nobody names another.
import type { CliIo } from '../cli-io.ts';
import { CliFailure, EXIT } from '../exit-code.ts';
import { ownSettings } from '../own-settings.ts';

/** On an address that stands for all of the machine's, it is reached by loopback. */
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

const UNKNOWN = 'the settings that say where the gateway is are not valid; --url names it without them\n';

/** By gateway.yaml and the environment, as the gateway reads them. Throws CliFailure. */
export function ownGatewayUrl(io: CliIo): string {
  const { host, http, tls } = ownSettings(io, UNKNOWN);
  if (http.port === 0)
    throw new CliFailure(
      EXIT.usage,
      'http.port is 0, any that is free: say with --url or UTE_URL where it is',
    );
  const address = LOOPBACK[host] ?? host;
  const name = address.includes(':') ? `[${address}]` : address;
  return `${tls === undefined ? 'http' : 'https'}://${name}:${http.port}`;
}
