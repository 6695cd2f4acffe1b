// An agent with mqtt.js alone: plan, event, step; prints the prepared packet and the final one.
import mqtt from "mqtt";

const run = "beforehand/v1/shop/node/r1";
const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${process.argv[2]}`, { protocolVersion: 5 });
const say = (channel, message) => client.publishAsync(`${run}/${channel}`, JSON.stringify(message), { qos: 1 });

let begun = false;
client.on("message", async (_topic, payload) => {
  if (payload.length === 0) return;
  const packet = JSON.parse(payload.toString());
  if (!begun && packet.rendered.includes("W8813")) {
    begun = true;
    console.log(JSON.stringify(packet));
    await say("step", { step: "s1", phase: "begin" });
  } else if (packet.final) {
    console.log(JSON.stringify(packet));
    await client.endAsync();
  }
});
await client.subscribeAsync(`${run}/packet/+`, { qos: 1 });
await say("event", { kind: "message", role: "user", text: "Refund order W8813, please." });
await say("plan", {
  goal: "refund",
  steps: [{ id: "s1", tool: "refund_order", goal: "refund order", needs: ["order_id"] }],
});
setTimeout(() => process.exit(1), 30000).unref();
