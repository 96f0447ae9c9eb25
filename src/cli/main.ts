#!/usr/bin/env node
// The executable behind `ute`: asks what Node this is before anything is loaded that an older one cannot read.
import { isNodeNewEnough } from '../lib/node-version.ts';

// Not awaited: that, too, is more than an old one can read.
if (isNodeNewEnough('ute')) void import('./start.ts');
