// Gives every property test one seed, so that a run can be repeated; FC_SEED=<number> tries another.
import * as fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env['FC_SEED'] ?? 20_261_121) });
