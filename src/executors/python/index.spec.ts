import { describe, expect, it } from 'vitest';
import { PythonBench, targetOf } from '../../../test/helpers/python-ports.ts';
import { FakePython } from '../../../test/helpers/fake-python.ts';
import { pythonExecutor } from './index.ts';

describe('the options of a python tool', () => {
  it.each(['math_tools', 'billing.invoices', 'a1.b_2'])('take the module %s', (module) => {
    expect(pythonExecutor.optionsSchema.safeParse({ module, function_name: 'add' }).success).toBe(true);
  });

  it.each(['', '_private', 'pkg._inner', '../up', 'a..b', 'a.b.', 'a b', 'os;x', 'a\n', 'ä'])(
    'refuse the module %j',
    (module) => {
      expect(pythonExecutor.optionsSchema.safeParse({ module, function_name: 'add' }).success).toBe(false);
    },
  );

  it.each(['_hidden', '__import__', 'a.b', 'a()', '1st', ''])('refuse the function %j', (function_name) => {
    expect(pythonExecutor.optionsSchema.safeParse({ module: 'm', function_name }).success).toBe(false);
  });

  it('refuse fields they do not know', () => {
    expect(pythonExecutor.optionsSchema.safeParse({ module: 'm', function: 'add' }).success).toBe(false);
  });
});

describe('prepare', () => {
  const action = { name: 'list_events', description: 'Lists', parameters: [] };
  const prepare = async (options: { module: string; function_name?: string }, name?: string) => {
    const { executor } = new PythonBench(new FakePython());
    return executor.prepare(targetOf(options, name === undefined ? {} : { action: { ...action, name } }));
  };

  it('wants a function_name where there are no actions, and none where there are', async () => {
    await expect(prepare({ module: 'm' })).rejects.toThrow(/function_name is missing/);
    await expect(prepare({ module: 'm', function_name: 'f' }, 'list_events')).rejects.toThrow(
      /must be left out/,
    );
    await expect(prepare({ module: 'm' }, 'list_events')).resolves.toBeDefined();
  });

  it.each(['list-events', '_hidden', 'a.b'])(
    'refuses the action %s, which cannot be a function',
    async (name) => {
      await expect(prepare({ module: 'm' }, name)).rejects.toThrow(/cannot be a Python function's name/);
    },
  );
});
