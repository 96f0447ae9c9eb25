// What a mail server's refusal means, and what of its words callers read: bounded, scrubbed, and nobody's instructions.
import type { ErrorType } from '../../contract/call/error-types.ts';
import { smtpStatusReason } from '../../contract/call/reasons/status-reason.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { JsonObject } from '../../contract/json.ts';
import { oneLine } from '../../lib/upstream-error/one-line.ts';
import type { RefusedRecipient, SmtpRefusal, SmtpStage } from '../../ports/egress/smtp-servers.ts';

const MOST_CHARS = 300;

export interface Telling {
  readonly scrub: (text: string) => string;
  /** Whether callers read what the server says. */
  readonly shows: boolean;
}

const REFUSED: { readonly [stage in SmtpStage]: string } = {
  greeting: 'The mail server does not talk to this gateway now',
  login: "The mail server did not take the account's user and password",
  sender: 'The mail server does not take messages from this sender',
  recipients: 'The mail server does not take messages for any of the recipients',
  message: 'The mail server did not take the message',
};

/** Nothing of the message is delivered: the server said no. */
export function refusalFailure({ stage, code, reply, rejected }: SmtpRefusal, telling: Telling): ToolFailure {
  const said = replyText(reply, telling);
  const words = telling.shows && said !== '' ? `: ${said}` : '.';
  const enhanced = enhancedCode(reply);
  return new ToolFailure(typeOf(stage, code, enhanced), `${REFUSED[stage]} (${code})${words}`, {
    origin: 'tool',
    reason: smtpStatusReason(code),
    partialSideEffects: false,
    details: {
      stage,
      ...wordsOf(code, reply, telling),
      ...(rejected.length > 0 && { rejected: rejected.map((each) => rejectedRecipient(each, telling)) }),
    },
    cause: new Error(`${stage}: ${replyText(reply, telling)}`),
  });
}

/** One recipient whom the server refused: for good (a hard bounce), or for now (a soft one). */
export function rejectedRecipient({ address, code, reply }: RefusedRecipient, telling: Telling): JsonObject {
  return { recipient: address, permanent: isPermanent(code), ...wordsOf(code, reply, telling) };
}

/** The server's words on one line, without its codes. */
export function replyText(reply: string, { scrub }: Pick<Telling, 'scrub'>): string {
  const lines = reply.split('\n');
  const text = lines.map((line) => line.replace(/^\d{3}[ -]?(?:\d\.\d{1,3}\.\d{1,3} ?)?/, '')).join(' ');
  return oneLine(text, scrub, MOST_CHARS);
}

function wordsOf(code: number, reply: string, telling: Telling): JsonObject {
  const enhanced = enhancedCode(reply);
  const said = telling.shows ? replyText(reply, telling) : '';
  return {
    code,
    ...(enhanced !== undefined && { enhanced_code: enhanced }),
    ...(said !== '' && { upstream: { untrusted: true, message: said } }),
  };
}

/** RFC 3463, where the server speaks it: 5.1.1. */
function enhancedCode(reply: string): string | undefined {
  return /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})(?:\s|$)/.exec(reply)?.[1];
}

/** 503: out of order. The same message may be taken over another connection. */
function isPermanent(code: number): boolean {
  return code >= 500 && code !== 503;
}

const TOO_LARGE: ReadonlySet<string> = new Set(['5.2.3', '5.3.4']);
const NO_SUCH_MAILBOX: ReadonlySet<number> = new Set([550, 551, 553]);

function typeOf(stage: SmtpStage, code: number, enhanced = ''): ErrorType {
  if (!isPermanent(code)) return 'TRANSIENT';
  if (stage === 'login') return 'AUTH';
  if (code === 530 || code === 535) return 'AUTH';
  if (TOO_LARGE.has(enhanced) || (code === 552 && stage !== 'recipients')) return 'PAYLOAD_TOO_LARGE';
  if (enhanced.startsWith('5.7.')) return 'PERMISSION_DENIED';
  if (stage === 'sender') return 'PERMISSION_DENIED';
  if (stage !== 'recipients') return 'PERMANENT';
  if (enhanced !== '') return enhanced.startsWith('5.1.') ? 'NOT_FOUND' : 'PERMANENT';
  return NO_SUCH_MAILBOX.has(code) ? 'NOT_FOUND' : 'PERMANENT';
}
