// Programs that fetch a package and run it, and how each is told which: what their options mean, and what takes their value along.

export interface PackageRunner {
  readonly registry: 'npm' | 'pypi';
  /** Words that make a package manager run a package, as `dlx` of pnpm; none where the program does nothing else. */
  readonly forms: readonly RunnerForm[];
  /** Options that change nothing of what is run. */
  readonly switches: readonly string[];
  /** Further options without a value, and those with one: they say more than an installation keeps. */
  readonly others?: readonly string[];
  readonly valued?: readonly string[];
  /** Options whose value is the package that the program is of, and those with packages beside it. */
  readonly from: readonly string[];
  readonly beside?: readonly string[];
  /** What is expected of a command that cannot be read. */
  readonly expected: string;
}

export interface RunnerForm {
  readonly words: readonly string[];
  /** `own`: it runs what lies here, beside packages that options name. `none`: it finds a package by rules of its own. */
  readonly runs?: 'own' | 'none';
  /** It takes options behind the package for its own, up to `--`. */
  readonly greedy?: true;
}

/** A list is easier to read, and to compare with a manual, as a text. */
const words = (text: string): readonly string[] => text.trim().split(/\s+/);

const YES = ['-y', '--yes', '-q', '--quiet', '-s', '--silent'];
const PIP_SWITCHES = ['-q', '--quiet', '-v', '--verbose'];

const npmLike = (
  forms: readonly RunnerForm[],
  own: Partial<PackageRunner>,
  expected: string,
): PackageRunner => ({
  registry: 'npm',
  forms,
  switches: YES,
  from: ['--package'],
  expected,
  ...own,
});

const NPM_OPTIONS: Partial<PackageRunner> = {
  others: [
    '--no',
    '--no-install',
    '--offline',
    '--prefer-offline',
    '--prefer-online',
    '--ignore-existing',
    '--force',
    '-f',
  ],
  valued: ['--cache', '--registry', '--userconfig', '--prefix', '--loglevel', '--workspace', '-w', '-C'],
};
const PNPM_OPTIONS: Partial<PackageRunner> = {
  others: ['--offline', '--prefer-offline', '-r', '--recursive'],
  valued: [
    '--registry',
    '--dir',
    '-C',
    '--reporter',
    '--loglevel',
    '--allow-build',
    '--store-dir',
    '--filter',
    '-F',
  ],
};
const UV_OPTIONS: Pick<PackageRunner, 'switches' | 'others' | 'valued' | 'beside'> = {
  switches: [...PIP_SWITCHES, '--no-progress'],
  others: words(`
    --isolated --offline --refresh --reinstall --upgrade -U --no-cache -n --no-config
    --native-tls --system-certs --managed-python --no-managed-python --no-python-downloads
    --no-build --no-binary --no-sources --no-index --compile-bytecode --no-env-file --frozen
    --locked --no-sync --no-project --all-extras --no-dev --dev --active --exact --no-editable
    --all-packages --all-groups --no-default-groups -m --module -s --script --gui-script
    --no-build-isolation --only-dev
  `),
  valued: words(`
    --python -p --directory --project --cache-dir --config-file --color --env-file --index
    --default-index --index-url -i --extra-index-url --find-links -f --index-strategy
    --constraints -c --overrides --build-constraints -b --with-editable --with-requirements
    --resolution --prerelease --exclude-newer --link-mode --keyring-provider --python-platform
    --allow-insecure-host --refresh-package --reinstall-package --upgrade-package -P --extra
    --group --no-group --only-group --no-extra --package --torch-backend --config-setting -C
    --no-binary-package --no-build-package
  `),
  beside: ['--with', '-w'],
};

const CREATES: readonly RunnerForm[] = [{ words: ['create'], runs: 'none' }];
const NPX_EXPECTED = 'npx -y name@1.2.3 …, or npx -y --package name@1.2.3 -- program …';
const UVX_EXPECTED = 'uvx name==1.2.3 …, or uvx --from name==1.2.3 program …';
const ALONE: readonly RunnerForm[] = [{ words: [] }];

export const PACKAGE_RUNNERS: { readonly [program: string]: PackageRunner } = {
  npx: npmLike(ALONE, { ...NPM_OPTIONS, from: ['-p', '--package'] }, NPX_EXPECTED),
  npm: npmLike(
    [
      { words: ['exec'], greedy: true },
      { words: ['x'], greedy: true },
      { words: ['init'], runs: 'none' },
      { words: ['innit'], runs: 'none' },
      { words: ['create'], runs: 'none' },
    ],
    NPM_OPTIONS,
    'npm exec -y -- name@1.2.3 …, or npm exec -y --package=name@1.2.3 -- program …',
  ),
  pnpx: npmLike(ALONE, PNPM_OPTIONS, 'pnpx name@1.2.3 …, or pnpx --package=name@1.2.3 program …'),
  pnpm: npmLike(
    [{ words: ['dlx'] }, ...CREATES],
    PNPM_OPTIONS,
    'pnpm dlx name@1.2.3 …, or pnpm --package=name@1.2.3 dlx program …',
  ),
  yarn: npmLike(
    [{ words: ['dlx'] }, ...CREATES],
    { from: ['-p', '--package'], valued: ['--cwd'] },
    'yarn dlx name@1.2.3 …, or yarn dlx --package name@1.2.3 program …',
  ),
  bunx: npmLike(
    ALONE,
    { switches: [...YES, '--bun'], others: ['--no-install', '--verbose'], from: ['-p', '--package'] },
    'bunx name@1.2.3 …, or bunx --package name@1.2.3 program …',
  ),
  bun: npmLike(
    [{ words: ['x'] }, ...CREATES],
    {
      switches: [...YES, '--bun'],
      others: ['--no-install', '--verbose'],
      valued: ['--cwd', '--config', '-c', '--env-file'],
      from: ['-p', '--package'],
    },
    'bun x name@1.2.3 …, or bun x --package name@1.2.3 program …',
  ),
  uvx: { registry: 'pypi', forms: ALONE, ...UV_OPTIONS, from: ['--from'], expected: UVX_EXPECTED },
  uv: {
    registry: 'pypi',
    forms: [{ words: ['tool', 'run'] }, { words: ['run'], runs: 'own' }],
    ...UV_OPTIONS,
    from: ['--from'],
    expected:
      'uv tool run name==1.2.3 …, or uv tool run --from name==1.2.3 program …; uv run --with name==1.2.3 … for a program that is here',
  },
  pipx: {
    registry: 'pypi',
    forms: [{ words: ['run'] }],
    switches: PIP_SWITCHES,
    others: ['--no-cache', '--system-site-packages', '--pypackages', '--fetch-missing-python'],
    valued: ['--python', '--pip-args', '--index-url', '-i', '--suffix', '--backend'],
    from: ['--spec'],
    beside: ['--with'],
    expected: 'pipx run name==1.2.3 …, or pipx run --spec name==1.2.3 program …',
  },
};
