// isNotThereYet: a start waits for a database that comes up, and for none that will not have this gateway.
import { describe, expect, it } from 'vitest';
import { isNotThereYet } from './not-there-yet.ts';
import { NotConnected } from './not-connected.ts';

const failed = (message: string, code?: string) => Object.assign(new Error(message), code && { code });

describe('isNotThereYet', () => {
  it.each([
    ['the database system is not yet accepting connections', '57P03'],
    ['the database system is starting up', '57P03'],
    ['das Datenbanksystem startet', '57P03'],
    ['terminating connection due to administrator command', '57P01'],
    ['sorry, too many clients already', '53300'],
    ['server login has been failing, try again later (server_login_retry)', '08P01'],
    ['server login has been failing, cached error: connect failed (server_login_retry)', '08P01'],
    ['connect ECONNREFUSED 127.0.0.1:5432', 'ECONNREFUSED'],
    ['connect ETIMEDOUT 10.0.0.1:5432', 'ETIMEDOUT'],
    ['getaddrinfo EAI_AGAIN postgres', 'EAI_AGAIN'],
    ['getaddrinfo ENOTFOUND postgres', 'ENOTFOUND'],
    ['timeout expired', undefined],
    ['Connection terminated unexpectedly', undefined],
  ])('waits after: %s', (message, code) => {
    const error = failed(message, code);
    expect(isNotThereYet(error)).toBe(true);
    expect(isNotThereYet(new NotConnected('', { cause: error }))).toBe(true);
    expect(isNotThereYet(new NotConnected('', { cause: new AggregateError([error]) }))).toBe(true);
  });

  it.each([
    ['password authentication failed for user "ute"', '28P01'],
    ['database "ute" does not exist', '3D000'],
    ['no such user: ute', '08P01'],
    ['permission denied for schema public', '42501'],
    ['self-signed certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['the schema is behind: run "ute migrate"', undefined],
  ])('does not wait after: %s', (message, code) => {
    expect(isNotThereYet(new NotConnected('', { cause: failed(message, code) }))).toBe(false);
  });
});
