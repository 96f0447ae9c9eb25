// The smtp executor: a tool writes one message and hands it to a mail server, once.
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';
import type { Executor, ExecutorPlugin, ExecutorTarget, PreparedFunction } from '../../contract/plugin.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { secretScrubber, type SecretScrubber } from '../../lib/secrets/scrub-secrets.ts';
import {
  SmtpRefusal,
  type MailMessage,
  type MailReceipt,
  type SmtpServer,
  type SmtpServers,
} from '../../ports/egress/smtp-servers.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import { compileMessage } from './message/compile-message.ts';
import { defaultPort, hostOf, smtpConnectionSchema, type SmtpConnection } from './connection-schema.ts';
import { placesOf, smtpOptionsSchema, type MessageOptions, type SmtpOptions } from './options-schema.ts';
import { refusalFailure, rejectedRecipient, replyText, type Telling } from './refusal-failure.ts';
import { shownMessage } from './message/shown-message.ts';
import { compileServer } from './server-of-call.ts';

export interface SmtpNeeds {
  readonly smtpServers: SmtpServers;
  readonly log: Log;
}

export const smtpExecutor: ExecutorPlugin<SmtpOptions, SmtpNeeds> = {
  name: 'smtp',
  summary:
    'Sends mail by a mail server: TLS, pooled connections, guarded egress, recipients that the operator allows, and each message once.',
  optionsSchema: smtpOptionsSchema,
  connectionTypes: { smtp: smtpConnectionSchema },
  placeholders: placesOf,
  create: (needs) => new SmtpExecutor(needs),
};

interface Prepared {
  readonly messageOf: (call: ToolCall) => MailMessage;
  readonly serverOf: (call: ToolCall) => SmtpServer;
  readonly scrubber: SecretScrubber;
  readonly shows: boolean;
}

class SmtpExecutor implements Executor<SmtpOptions> {
  readonly #servers: SmtpServers;
  readonly #log: Log;

  constructor({ smtpServers, log }: SmtpNeeds) {
    this.#servers = smtpServers;
    this.#log = log;
  }

  prepare({ function: fn, options, connection: given }: ExecutorTarget<SmtpOptions>): PreparedFunction {
    if (given === undefined) throw new Error(`There is no connection "${options.connection}".`);
    if (fn.spec.auth?.managed !== undefined)
      throw new Error(
        'A tool of type smtp cannot be given the token of an account: it logs in with a password.',
      );
    const connection = smtpConnectionSchema.parse(given.settings);
    const secrets = [connection.auth?.password, ...(given.secrets ?? [])];
    const scrubber = secretScrubber(secrets.filter((secret) => secret !== undefined));
    const prepared: Prepared = {
      messageOf: compileMessage(options, messageFor(options, fn), connection.allow_recipients),
      serverOf: compileServer(connection, options.server),
      scrubber,
      shows: options.upstream_errors !== 'hide',
    };
    const upstream = upstreamOf(connection, given.name, scrubber);
    return {
      execute: (call) => this.#execute(prepared, call),
      render: (call) => scrubber.json(shownMessage(prepared.messageOf(call), prepared.serverOf(call))),
      ...(upstream !== undefined && { upstream }),
    };
  }

  async #execute({ messageOf, serverOf, scrubber, shows }: Prepared, call: ToolCall): Promise<ToolResult> {
    const message = messageOf(call);
    const server = serverOf(call);
    const telling: Telling = { scrub: scrubOf(scrubber, call), shows };
    try {
      const receipt = await this.#servers.send(server, message, {
        signal: call.signal,
        onWaiting: (why) => (call.progress.stalled = why),
      });
      this.#tell(call, message, server, receipt, telling);
      return { data: receiptData(message, receipt, telling) };
    } catch (error) {
      call.signal.throwIfAborted();
      throw error instanceof SmtpRefusal ? refusalFailure(error, telling) : error;
    }
  }

  /** Who wrote to whom stands in the audit record and in the mail itself, and not here. */
  #tell(
    call: ToolCall,
    { messageId }: MailMessage,
    { host }: SmtpServer,
    receipt: MailReceipt,
    telling: Telling,
  ) {
    this.#log.info(
      {
        call_id: call.id,
        message_id: messageId,
        host: telling.scrub(host),
        accepted: receipt.accepted.length,
        rejected: receipt.rejected.length,
        reply: replyText(receipt.reply, telling),
      },
      'a message was handed to its mail server',
    );
  }
}

function messageFor({ actions, ...own }: SmtpOptions, { action }: ToolFunction): MessageOptions {
  if (action === undefined) {
    if (actions === undefined) return own;
    throw new Error('implementation_config.actions is given, but the tool declares no actions.');
  }
  const message =
    actions !== undefined && Object.hasOwn(actions, action.name) ? actions[action.name] : undefined;
  if (message !== undefined) return message;
  throw new Error(`implementation_config.actions has no message for the action "${action.name}".`);
}

/** Undefined: each agent has a server of its own, whose troubles are not those of others. */
function upstreamOf(
  { host, port, security }: SmtpConnection,
  name: string,
  scrubber: SecretScrubber,
): string | undefined {
  if (host === undefined) return undefined;
  const known = hostOf(host) ?? host;
  const shown = scrubber.text(known) === known ? known : name;
  return `smtp:${shown}:${port ?? defaultPort(security)}`;
}

function scrubOf(own: SecretScrubber, { scrubber: ofAgent }: ToolCall): (text: string) => string {
  return ofAgent === undefined ? own.text : (text) => ofAgent.text(own.text(text));
}

function receiptData({ messageId }: MailMessage, { accepted, rejected }: MailReceipt, telling: Telling) {
  return {
    message_id: messageId,
    accepted: [...accepted],
    rejected: rejected.map((each) => rejectedRecipient(each, telling)),
  };
}
