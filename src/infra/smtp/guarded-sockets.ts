// Sockets to a mail server: past the egress policy before nodemailer is given one.
import type { SMTPPoolOptions } from 'nodemailer';
import type { SmtpServer } from '../../ports/egress/smtp-servers.ts';
import { AddressGuard } from '../http/address-guard.ts';
import { openSocket, type Outside } from '../http/guarded-connector.ts';
import { connectFailed } from '../http/http-failures.ts';
import type { SmtpMetrics } from './smtp-metrics.ts';

export interface SocketNeeds {
  readonly outside: Outside;
  readonly metrics: SmtpMetrics;
  readonly timeoutMs: number;
}

export function guardedSockets(
  { host, port, egress: policy }: SmtpServer,
  { outside, metrics, timeoutMs }: SocketNeeds,
): NonNullable<SMTPPoolOptions['getSocket']> {
  const guard = new AddressGuard(policy.allowPrivate, outside.ownAddresses?.bind(outside));
  const url = new URL(`https://${host}:${port}`);
  const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return (_, done) => {
    openSocket({ hostname, url }, { policy, guard, outside, timeoutMs }).then(
      (connection) => {
        metrics.connects.with('ok').add();
        done(null, { connection });
      },
      (error: unknown) => {
        metrics.connects.with('failed').add();
        done(connectFailed(error instanceof Error ? error : new Error(String(error))), false);
      },
    );
  };
}
