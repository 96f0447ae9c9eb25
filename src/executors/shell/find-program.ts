// Programs: found at load by their absolute path, and refused where their arguments would be programs themselves.
import { realpathSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import { behindClosedFolder } from '../../lib/files/closed-folder.ts';
import { isExecutable } from '../../lib/files/is-executable.ts';

const PATH = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib64'];

/** Languages, and programs that run other programs, read commands from files, or fetch and write anywhere. */
const INTERPRETERS = new Set(
  `
  sh bash dash ash zsh ksh mksh fish csh tcsh rbash busybox toybox python pypy perl ruby irb node nodejs
  deno bun lua luajit php tclsh wish expect guile rscript r java jshell groovy erl elixir ghc ocaml awk
  gawk mawk nawk original-awk sed ed ex vi vim view vimdiff nvim emacs nano less more man pager dc m4
  sqlite psql mysql env xargs find parallel nice ionice nohup timeout time watch setsid stdbuf chroot
  unshare nsenter setpriv setarch linux32 linux64 sudo su doas runuser script flock taskset chrt prlimit
  capsh bwrap strace ltrace gdb start-stop-daemon systemd-run at batch crontab run-parts ld.so ldd make
  cmake gcc g++ cc c++ clang ld as go cargo rustc npm npx pip pipx gem apt apt-get dpkg rpm yum dnf git
  svn hg tar cpio zip unzip 7z rsync ssh scp sftp curl wget nc ncat netcat socat telnet ftp openssl
  docker podman kubectl tee dd
`
    .trim()
    .split(/\s+/),
);

/** Throws Error with a sentence for the operator. */
export function findProgram(name: string, readable: readonly string[], isDangerous: boolean): string {
  const path = placeOf(name);
  if (path === undefined) {
    const closed = isAbsolute(name) ? behindClosedFolder(name) : undefined;
    if (closed !== undefined) throw new Error(`command: ${closed}`);
    throw new Error(`command: there is no program ${JSON.stringify(name)} in ${PATH.join(', ')}.`);
  }
  if (![...SYSTEM, ...readable].some((folder) => path === folder || path.startsWith(`${folder}/`))) {
    throw new Error(`command: ${path} is not in the sandbox; add its folder to executors.shell.readable.`);
  }
  const interpreter = [name, path, realpathSync(path)].map(plainName).find((each) => INTERPRETERS.has(each));
  if (interpreter !== undefined && !isDangerous) {
    throw new Error(
      `command: ${name} takes programs as arguments (it is ${interpreter}); a tool that runs it must say metadata.is_dangerous: true.`,
    );
  }
  return path;
}

function placeOf(name: string): string | undefined {
  if (isAbsolute(name)) return isExecutable(name) ? name : undefined;
  if (name.includes('/')) return undefined;
  return PATH.map((folder) => join(folder, name)).find(isExecutable);
}

/** Without version and suffix: python3.11, vim.basic, ld-linux-x86-64.so.2. */
function plainName(path: string): string {
  const name = basename(path).toLowerCase();
  if (/^ld(-linux.*)?\.so/.test(name)) return 'ld.so';
  const plain = name.replace(/[-.]?\d[\d.]*$/, '');
  return INTERPRETERS.has(name)
    ? name
    : plain.replace(/\.(basic|tiny|gnome|gtk3?|nox|openbsd|traditional)$/, '');
}
