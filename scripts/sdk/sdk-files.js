// What of the SDKs follows from the gateway, by file.
import { join } from 'node:path';
import { pythonDescriptors, typescriptDescriptors } from './descriptors.js';
import { blockingModules } from './python-blocking.js';
import { pythonStreamTypes, pythonTypes } from './python-types.js';
import { streamMessages } from './stream-messages.js';
import { typescriptStreamTypes, typescriptTypes } from './typescript-types.js';

const TYPESCRIPT = 'sdk/typescript/src/generated';
const PYTHON = 'sdk/python/src/unified_tool_executor';

/** `descriptors`: of proto/. */
export function sdkFiles(root, openApi, descriptors) {
  const { client, server } = streamMessages();
  const blocking = Object.entries(blockingModules(join(root, PYTHON)));
  return {
    [`${TYPESCRIPT}/gateway.ts`]: typescriptTypes(openApi),
    [`${TYPESCRIPT}/stream.ts`]: typescriptStreamTypes(client, server),
    [`${TYPESCRIPT}/descriptors.ts`]: typescriptDescriptors(descriptors),
    [`${PYTHON}/gateway_types.py`]: pythonTypes(openApi),
    [`${PYTHON}/stream_types.py`]: pythonStreamTypes(client, server),
    [`${PYTHON}/descriptors.py`]: pythonDescriptors(descriptors),
    ...Object.fromEntries(blocking.map(([name, text]) => [`${PYTHON}/${name}`, text])),
  };
}
