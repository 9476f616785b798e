// A process of a trial whose cache is bentocache: one JSON on each line of its input, answered by one on its output.

import { BentoCache, bentostore } from 'bentocache'
import { memoryDriver } from 'bentocache/drivers/memory'
import { redisBusDriver, redisDriver } from 'bentocache/drivers/redis'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

const TAGS = 4
// How long a load of several ids sleeps.
const TOGETHER = { Row: { ms: 30 } }

const setup = JSON.parse(process.argv[2])
const life = setup.fresh_ms
const { hostname: host, port } = new URL(setup.redis)
const budget = setup.budget_ms ?? 500
const connection = { host, port: Number(port), commandTimeout: budget, connectTimeout: budget }

const shared = redisDriver({ connection })
const levels = setup.local_ms === 0
  ? bentostore().useL2Layer(shared)
  : bentostore().useL1Layer(memoryDriver({})).useL2Layer(shared).useBus(redisBusDriver({ connection }))
const cache = new BentoCache({ default: 'things', stores: { things: levels } })

// What a driver cannot do is told to whoever called; nothing else is to end the process, or to be said.
console.error = () => {}
console.warn = () => {}
process.on('uncaughtException', () => {})
process.on('unhandledRejection', () => {})

class LoadFailed extends Error {}

const now = () => Number(process.hrtime.bigint())
let loads = []

function row(what, id) {
  return new Promise((resolve, reject) => {
    const socket = connect(setup.rows, '127.0.0.1', () => socket.write(`${what} ${id}\n`))
    socket.once('data', (bytes) => {
      resolve(Number(bytes))
      socket.destroy()
    })
    socket.once('error', reject)
  })
}

async function load(id, origin) {
  const ran = { id, began: now(), ended: null }
  loads.push(ran)
  const [[kind, { ms }]] = Object.entries(origin)
  try {
    const version = kind === 'Row' ? await row('read', id) : 0
    await sleep(ms)
    if (kind === 'Failure') throw new LoadFailed()
    return { version, pid: process.pid }
  } finally {
    ran.ended = now()
  }
}

function tagsOf(id) {
  const number = Number(id.slice(id.lastIndexOf('-') + 1))
  return number % 2 ? [] : [`tag-${(number / 2) % TAGS}`]
}

async function getOrLoad(id, origin) {
  const factory = () => load(id, origin)
  try {
    return value(await cache.getOrSet({ key: id, ttl: life, tags: tagsOf(id), factory }))
  } catch (error) {
    if (error instanceof LoadFailed || error.cause instanceof LoadFailed) return 'Failed'
    throw error
  }
}

const value = (found) => (found ? { Value: found } : 'Nothing')
const done = async (change) => {
  await change
  return 'Everywhere'
}
const forget = (id) => done(cache.delete({ key: id }))
const put = ([id, version]) =>
  done(cache.set({ key: id, ttl: life, tags: tagsOf(id), value: { version, pid: process.pid } }))

async function call(work) {
  const began = now()
  let outcome
  try {
    outcome = await work()
  } catch (error) {
    outcome = { Error: `${error.name} ${error.message}` }
  }
  return { began, ended: now(), outcome }
}

const calls = async (...all) => ({ Done: await Promise.all(all.map(call)) })
const times = (count, work) => Array.from({ length: count }, () => work)

const REPORT = {
  Report: { usable: true, hears: true, bound_ms: 1500, gaps: 0, deferred: 0, refused_fills: 0, tasks: 1 },
}

const orders = {
  Load: ({ id, callers, origin }) => calls(...times(callers, () => getOrLoad(id, origin))),
  LoadMany: (ids) => calls(...ids.map((id) => () => getOrLoad(id, TOGETHER))),
  Read: (id) => calls(async () => value(await cache.get({ key: id }))),
  Put: (how) => calls(() => put(how)),
  Invalidate: (id) => calls(() => forget(id)),
  InvalidateAmidLoads: ({ id, callers, origin }) =>
    calls(() => forget(id), ...times(callers, () => getOrLoad(id, origin))),
  Expire: (id) => calls(() => done(cache.expire({ key: id }))),
  InvalidateTag: ([tag]) => calls(() => done(cache.deleteByTag({ tags: [tag] }))),
  Clear: () => calls(() => done(cache.clear())),
  Raise: async (id) => ({ Raised: await row('raise', id) }),
  Loads: () => {
    const told = loads.map((ran) => ({ ...ran }))
    loads = loads.filter((ran) => ran.ended === null)
    return { Loads: told }
  },
  Report: () => REPORT,
}

const say = (number, what) => process.stdout.write(`${JSON.stringify({ number, what })}\n`)

async function obey({ number, what: order }) {
  const [what, how] = typeof order === 'string' ? [order] : Object.entries(order)[0]
  say(number, await orders[what](how))
}

say(0, REPORT)
createInterface({ input: process.stdin })
  .on('line', (line) => obey(JSON.parse(line)))
  .on('close', () => process.exit(0))
