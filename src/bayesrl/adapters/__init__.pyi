from bayesrl.adapters import gymnasium as gymnasium
from bayesrl.adapters import jax as jax
from bayesrl.adapters.gymnasium import GymWorld as GymWorld
from bayesrl.adapters.gymnasium import WorldEnv as WorldEnv
from bayesrl.adapters.gymnasium import to_gymnasium as to_gymnasium
from bayesrl.adapters.jax import gptd_batch as gptd_batch
