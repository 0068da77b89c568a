import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { outsideDifferences, outsideFacts } from '@hotcell/executor-worker/cell/posture-outside.ts';
import { Posture } from '@hotcell/contract/posture.ts';
import type { Inspected } from '@hotcell/outside/engine/engine.ts';
import { recorded } from './recorded-postures.ts';

describe('from outside', () => {
  const differences = (change: (made: Inspected) => unknown) => {
    const { asked, made } = recorded('runc');
    change(made);
    return outsideDifferences(asked, made);
  };
  test('a container made as asked shows no difference', () => {
    for (const runtime of ['runc', 'gvisor']) {
      const { asked, made } = recorded(runtime);
      assert.deepEqual(outsideDifferences(asked, made), []);
    }
  });
  test('an engine may spell capabilities in their long form', () => {
    assert.deepEqual(
      differences(({ HostConfig }) => (HostConfig.CapAdd = ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP', 'CAP_KILL'])),
      [],
    );
  });
  const weaker: Record<string, (made: Inspected) => unknown> = {
    'a privileged container': ({ HostConfig }) => (HostConfig.Privileged = true),
    'a capability more': ({ HostConfig }) => (HostConfig.CapAdd = [...(HostConfig.CapAdd ?? []), 'SYS_ADMIN']),
    'capabilities kept': ({ HostConfig }) => (HostConfig.CapDrop = []),
    'no filter': ({ HostConfig }) => (HostConfig.SecurityOpt = ['no-new-privileges', 'seccomp=unconfined']),
    'another runtime': ({ HostConfig }) => (HostConfig.Runtime = 'runsc'),
    'a network': ({ HostConfig }) => (HostConfig.NetworkMode = 'bridge'),
    'a network beside': ({ NetworkSettings }) =>
      Object.assign(NetworkSettings, { Networks: { bridge: { IPAddress: '172.17.0.2' } } }),
    'a writable root': ({ HostConfig }) => (HostConfig.ReadonlyRootfs = false),
    'a device': ({ HostConfig }) =>
      (HostConfig.Devices = [{ PathOnHost: '/dev/kvm', PathInContainer: '/dev/kvm', CgroupPermissions: 'rwm' }]),
    'a bind': ({ HostConfig }) => (HostConfig.Binds = ['/:/host']),
    'a writable mount': ({ Mounts }) => Object.assign(Mounts[0] ?? {}, { RW: true }),
    'a mount more': ({ Mounts }) => Mounts.push({ ...Mounts[0], Source: '/', Destination: '/host' } as never),
    'a mount less': ({ Mounts }) => Mounts.pop(),
    'a volume': ({ Config }) => (Config.Volumes = { '/data': {} }),
    'an entrypoint of the image': ({ Config }) => (Config.Entrypoint = ['/bin/evil']),
    'a command': ({ Config }) => (Config.Cmd = ['evil']),
    'a user': ({ Config }) => (Config.User = '1000'),
    'a health check': ({ Config }) => (Config.Healthcheck = { Test: ['CMD', 'evil'] }),
    'a variable': ({ Config }) => Config.Env.push('LD_PRELOAD=/evil.so'),
    'a label of the image': ({ Config }) => (Config.Labels['hotcell.worker'] = 'evil'),
    'another image': (made) => (made.Image = `sha256:${'0'.repeat(64)}`),
    'more memory': ({ HostConfig }) => (HostConfig.Memory = 0),
    swap: ({ HostConfig }) => (HostConfig.MemorySwap = -1),
    'more processes': ({ HostConfig }) => (HostConfig.PidsLimit = 0),
    'more of a tmpfs': ({ HostConfig }) => Object.assign(HostConfig.Tmpfs ?? {}, { '/tmp': 'rw' }),
    'nothing masked': ({ HostConfig }) => (HostConfig.MaskedPaths = []),
    'a cgroup of somebody': ({ HostConfig }) => (HostConfig.CgroupParent = '/other'),
    'a host’s processes': ({ HostConfig }) => (HostConfig.PidMode = 'host'),
    'a second attacher': ({ Config }) => (Config.StdinOnce = false),
  };
  for (const [weakness, change] of Object.entries(weaker))
    test(`${weakness} is one difference`, () => assert.equal(differences(change).length, 1));
  test('its facts fit into a result, without the host’s paths', () => {
    const { made } = recorded('runc');
    const outside = outsideFacts(made, '26.1.5');
    Posture.parse({ inside: {}, outside, worth: '' });
    assert.doesNotMatch(JSON.stringify(outside), /\/srv\/hotcell/);
  });
});
