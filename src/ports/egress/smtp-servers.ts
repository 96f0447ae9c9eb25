// SmtpServers: mail servers that messages are handed over to, over connections that are kept for their owner alone.
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { EgressPolicy } from './http-client.ts';

/** `starttls`: nothing is said before the connection is secured; a server that cannot is not spoken to. */
export type SmtpSecurity = 'tls' | 'starttls' | 'none';

export interface SmtpServer {
  /** As in a URL: an IPv6 address stands in brackets. */
  readonly host: string;
  readonly port: number;
  readonly security: SmtpSecurity;
  readonly account?: { readonly user: string; readonly password: string };
  /** PEM, instead of the system's authorities. */
  readonly ca?: string;
  /** Whom the certificate is for, where that is not the host. */
  readonly serverName?: string;
  readonly egress: EgressPolicy;
  /** What the gateway calls itself in EHLO. */
  readonly clientName: string;
  readonly maxConnections: number;
  /** A connection is used again by whoever says the same of all of this, the owner included. */
  readonly owner: string;
}

/** Checked before: nothing in here can end a header or a command. Addresses are ASCII. */
export interface MailMessage {
  /** With its angle brackets. */
  readonly messageId: string;
  readonly from: { readonly address: string; readonly name: string };
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly replyTo: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  readonly attachments: readonly MailAttachment[];
}

export interface MailAttachment {
  readonly filename: string;
  readonly contentType: string;
  readonly content: Buffer;
}

export interface MailReceipt {
  readonly accepted: readonly string[];
  readonly rejected: readonly RefusedRecipient[];
  /** The server's last words, where a queue's id may stand. Nobody vouches for them. */
  readonly reply: string;
}

export interface RefusedRecipient {
  readonly address: string;
  readonly code: number;
  readonly reply: string;
}

/**
 * Two copies of a message are never sent by one `send`. Rejects with SmtpRefusal where the server said no and took nothing;
 * with the signal's reason; or with ToolFailure: UNAVAILABLE (CONNECT_FAILED, DNS_TIMEOUT, SMTP_TLS_MISSING, CONNECTION_LOST,
 * QUEUE_FULL: the server has nothing of the message; DELIVERY_UNKNOWN: it may have all of it), PERMANENT (EGRESS_DENIED),
 * OUTPUT_INVALID (SMTP_PROTOCOL).
 */
export interface SmtpServers {
  send(server: SmtpServer, message: MailMessage, options: SendOptions): Promise<MailReceipt>;
  close(): Promise<void>;
}

export interface SendOptions {
  readonly signal: AbortSignal;
  /** Given, once, a question that may be asked when the caller's time is over: that nothing was handed over yet, if so. */
  readonly onWaiting?: (why: () => ToolFailure | undefined) => void;
}

/** Where in the conversation the server said no. */
export type SmtpStage = 'greeting' | 'login' | 'sender' | 'recipients' | 'message';

export class SmtpRefusal extends Error {
  readonly stage: SmtpStage;
  /** 400 to 599; 552 where the message is larger than the server says that it takes. */
  readonly code: number;
  readonly reply: string;
  readonly rejected: readonly RefusedRecipient[];

  constructor(stage: SmtpStage, code: number, reply: string, rejected: readonly RefusedRecipient[] = []) {
    super(`${stage}: ${reply}`);
    this.name = 'SmtpRefusal';
    this.stage = stage;
    this.code = code;
    this.reply = reply;
    this.rejected = rejected;
  }
}
