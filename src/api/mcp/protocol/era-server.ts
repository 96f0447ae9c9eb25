// EraServer: the SDK's server for one era, made once for all clients: it knows the protocol, and nothing of any of them.
import { Server, SUPPORTED_PROTOCOL_VERSIONS, type ServerCapabilities } from '@modelcontextprotocol/server';
import { VERSION } from '../../../version.ts';
import { TASKS_EXTENSION } from './client-capabilities.ts';
import { DoorTransport } from './door-transport.ts';
import type { Era } from './exchange.ts';

export const MODERN_VERSION = '2026-07-28';
/** With 2025-11-25 first, and what older clients still ask for. */
export const LEGACY_VERSIONS: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS;

/** What this door offers. Long calls: in 2025-11-25 by its own tasks, in 2026-07-28 by the extension. */
export function capabilitiesOf(era: Era): ServerCapabilities {
  const both = { tools: { listChanged: true }, logging: {} };
  if (era === 'modern') return { ...both, extensions: { [TASKS_EXTENSION]: {} } };
  return { ...both, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };
}

/** Of this program. */
export const NAME = { name: 'unified-tool-executor', title: 'UnifiedToolExecutor', version: VERSION };

export class EraServer extends Server {
  readonly door = new DoorTransport();

  constructor(era: Era, capabilities: ServerCapabilities) {
    super(NAME, {
      capabilities,
      supportedProtocolVersions: era === 'modern' ? [MODERN_VERSION] : [...LEGACY_VERSIONS],
      // Asked for forms that clients fill in, which are not used; its own default is an Ajv.
      jsonSchemaValidator: {
        getValidator: () => () => ({ valid: false, data: undefined, errorMessage: 'no forms' }),
      },
    });
    if (era === 'modern') this._negotiatedProtocolVersion = MODERN_VERSION;
  }

  async open(): Promise<this> {
    await this.connect(this.door);
    return this;
  }

  /** Results are written by this door and checked by its tests: the SDK would parse each of them once more. */
  protected override _wrapHandler(...[, handler]: Parameters<Server['_wrapHandler']>) {
    return handler;
  }
}
