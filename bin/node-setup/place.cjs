/**
 * Puts the Node.js of this platform into the package `node`, whose install script calls this. The package of the platform is
 * in the lock file where it can be, and was fetched with all others; elsewhere npm fetches it now, which takes seconds.
 * It runs under any Node.js that npm runs under.
 */
const { spawnSync } = require('node:child_process');
const { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync } = require('node:fs');
const { join } = require('node:path');

/** `requireThere`: of the package `node`, which is the working directory. */
module.exports = (version, requireThere) => {
  const { platform, arch } = process;
  const name = `${platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'}-${platform}-${arch}`;
  const folder = find(requireThere, name, version) ?? fetch(requireThere, name, version);
  const place = join(process.cwd(), 'bin');
  mkdirSync(place, { recursive: true });
  rmSync(join(place, 'node'), { force: true });
  linkSync(join(folder, 'bin/node'), join(place, 'node'));
  // Headers and documentation that nothing reads here: 65 MB.
  for (const part of readdirSync(folder))
    if (part !== 'bin' && part !== 'package.json' && part !== 'LICENSE')
      rmSync(join(folder, part), { recursive: true });
};

/** Not with `require`, which remembers what it found before npm fetched another. */
function find(requireThere, name, version) {
  const folders = requireThere.resolve.paths(name).map((modules) => join(modules, name));
  return folders.find((folder) => versionOf(folder) === version) ?? null;
}

function versionOf(folder) {
  const file = join(folder, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : null;
}

function fetch(requireThere, name, version) {
  const env = { ...process.env, npm_config_global: 'false', npm_config_repository: '' };
  const { status } = spawnSync('npm', ['install', '--no-save', `${name}@${version}`], {
    stdio: 'inherit',
    env,
  });
  const folder = status === 0 && find(requireThere, name, version);
  if (!folder) throw new Error(`npm could not fetch ${name} ${version}.`);
  return folder;
}
