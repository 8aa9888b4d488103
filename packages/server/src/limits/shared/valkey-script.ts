/**
 * One exchange as a Lua script, which Valkey runs atomically at its own time. It answers what `settleBucket` and
 * `settleSlots` answer; a test compares them.
 */

/** KEYS: the accounts of the buckets, then those of the slots. ARGV: the request as JSON. Answers JSON. */
export const exchangeScript = `
local request = cjson.decode(ARGV[1])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000
local share = 1 / 8
local period = 2 * request.leaseMs
local answer = {}

local function text(number)
  return string.format('%.17g', number)
end

for index, each in ipairs(request.buckets) do
  local limit = each.perMinute
  local stored = redis.call('HMGET', KEYS[index], 'taken', 'updated', 'spare', 'before', 'end')
  local taken = tonumber(stored[1] or 0)
  local updated = tonumber(stored[2] or now)
  local spare = tonumber(stored[3] or 0)
  local before = tonumber(stored[4] or 0)
  local ends = tonumber(stored[5] or now)

  local function refill(untilMs)
    local unused = math.min(taken, spare + before)
    taken = math.max(unused, taken - math.max(0, untilMs - updated) * limit / 60000)
    updated = untilMs
  end
  while now >= ends and spare + before > 0 do
    refill(ends)
    before = spare
    spare = 0
    ends = ends + period
  end
  if now >= ends or ends > now + period then ends = now + period end
  refill(now)

  taken = math.max(0, taken - each.returned)
  local returnedBefore = math.min(before, each.returned)
  before = before - returnedBefore
  spare = math.max(0, spare - (each.returned - returnedBefore))
  taken = math.max(math.min(taken, spare + before), taken + each.charged)

  local left = math.max(0, math.floor(limit - taken + 1e-6))
  local needed = 0
  local extra = 0
  if left >= each.atLeast then
    needed = math.min(left, each.demand)
    extra = math.min(each.spare, math.floor((left - needed) * share))
  end
  taken = taken + needed + extra
  redis.call('HSET', KEYS[index], 'taken', text(taken), 'updated', text(updated),
    'spare', text(spare + extra), 'before', text(before), 'end', text(ends))
  redis.call('PEXPIRE', KEYS[index], math.ceil(ends - now + period + taken * 60000 / limit))
  answer[#answer + 1] = text(needed + extra)
  answer[#answer + 1] = text(taken)
end

for index, each in ipairs(request.slots) do
  local key = KEYS[#request.buckets + index]
  local stored = redis.call('HGETALL', key)
  local latest = now + request.slotLeaseMs
  local others = 0
  local current
  for field = 1, #stored, 2 do
    local slots, expires, sequence = string.match(stored[field + 1], '^(%S+) (%S+) (%S+)$')
    if tonumber(expires) <= now then
      redis.call('HDEL', key, stored[field])
    else
      -- Not later than a new lease, even if the clock jumped back.
      if tonumber(expires) > latest then
        redis.call('HSET', key, stored[field], slots .. ' ' .. text(latest) .. ' ' .. sequence)
      end
      if stored[field] == request.holder then
        current = { slots = tonumber(slots), sequence = tonumber(sequence) }
      else
        others = others + tonumber(slots)
      end
    end
  end
  local held
  if current and current.sequence >= request.sequence then
    held = current.slots
  else
    local left = math.max(0, each.limit - others - each.inUse)
    local needed = math.min(left, each.demand)
    held = each.inUse + needed + math.min(each.spare, math.floor((left - needed) * share))
    redis.call('HSET', key, request.holder, text(held) .. ' ' .. text(latest) .. ' ' .. text(request.sequence))
    redis.call('PEXPIRE', key, request.slotLeaseMs)
  end
  answer[#answer + 1] = text(held)
  answer[#answer + 1] = text(others)
end

return answer
`;
