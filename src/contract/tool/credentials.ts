// What the credential of an agent is called in sensitive_config, by the type of a tool's auth.
import type { JsonObject } from '../json.ts';
import type { ToolAuth } from './tool-spec.ts';

type AuthType = NonNullable<ToolAuth['type']>;

const secret = (title: string) => ({ type: 'string', minLength: 1, title, 'x-ute-sensitive': true });

/** Where a tool finds the token of a connected account. */
export const ACCESS_TOKEN = 'access_token';

/** Their schemas. */
export const CREDENTIALS: Readonly<Record<AuthType, JsonObject>> = {
  oauth2: { access_token: secret('Access token'), refresh_token: secret('Refresh token') },
  api_key: { api_key: secret('API key') },
};

/** Those that have to be there. */
export const NEEDED_CREDENTIALS: Readonly<Record<AuthType, readonly string[]>> = {
  oauth2: ['access_token'],
  api_key: ['api_key'],
};
