// The entry point: asks what Node this is before anything is loaded that an older one cannot read.
import { isNodeNewEnough } from './lib/node-version.ts';

// Not awaited: that, too, is more than an old one can read.
if (isNodeNewEnough('unified-tool-executor')) void import('./app/process/start.ts');
