// Every path that the gateway serves stands under a part that no declared route may begin with.
import { expect, it } from 'vitest';
import { isOwn, OPERATORS_PATH } from '../../../lib/http-route/own-paths.ts';
import { DOCS_CONTROLLERS, MCP_CONTROLLERS, REST_CONTROLLERS, STREAM_CONTROLLERS } from '../controllers.ts';
import { routesOf } from '../route/serves.ts';

const controllers = [...REST_CONTROLLERS, ...MCP_CONTROLLERS, ...STREAM_CONTROLLERS, ...DOCS_CONTROLLERS];
const paths = [...new Set(controllers.flatMap((each) => routesOf(each)).map(({ path }) => path))];

it.each(paths)('%s is the gateway’s own', (path) => {
  expect(isOwn(path.split('/')[1] ?? '')).toBe(true);
  expect(path.startsWith(OPERATORS_PATH)).toBe(false);
});
